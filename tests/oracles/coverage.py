#!/usr/bin/env python3
"""Which files of a repository speak of GPUs for a deployment, and which of them gpulint understood.

This oracle shares no code and no table with gpulint. It tells the format of each file by name and
shape, and finds by words what the file states about GPUs: a request, an image, a machine, a driver,
a package, a flag, an environment variable, the launch of an engine. Source code, prose, notebooks,
schemas, generated files and test data of other tools are out of scope, whatever words they hold.

    coverage.py REPO...                       one line of JSON per file in scope that speaks of GPUs
    coverage.py --formats REPO...             a table of formats only
    coverage.py REPO... --against REPORT...   how much of it gpulint understood; REPORTs are the outputs of
                                              `gpulint check --format json REPO` and `gpulint facts REPO`,
                                              or directories of both (run gpulint in the folder of REPO). Paths in
                                              them start at the root of Git, so that those of several repositories
                                              are alike: each repository is judged with its own, which are called
                                              after it: REPO.check.json, REPO.facts.json
      --tsv FILE   the files that were not understood        --json FILE   every file with its lines

Strength: *strong* states something of a GPU; *weak* only mentions one, in a comment, a name (of an
object, a helper of a chart, a suffix), a description, a URL or a count of zero, or states no value
of its own: an empty key, a switch that is off, a bare reference to what is stated elsewhere. Files that gpulint says
it leaves out as test data or an archive are counted apart, and guides in YAML are prose. Only strong files are held against gpulint's facts. A strong
line is *read* when a typed fact with a value lies on it (or its text spans it) and belongs to it by
value or key; raw echoes (words of an instruction, object names, labels) do not count. A flag alone on
its line is read with the value on the next. A file is understood when all its strong lines are read,
in part when some are, and not understood otherwise.
"""
import argparse, collections, functools, json, os, re, sys

try:
    import yaml
except ImportError:  # patches are then told by their shape alone
    yaml = None

MAX = 16 << 20
OUT_OF_SCOPE = {"source code", "prose", "notebook", "schema", "generated or data", "test data", "binary", "vendored", "monitoring", "GitHub or tool meta"}

# ---------------------------------------------------------------- words
PKG = (r"torch(?:vision|audio|text|ao|tune|titan|rec|serve|data)?|pytorch(?:-cuda|-lightning|-gpu)?|tensorflow(?:-gpu|-rocm)?|vllm|sglang|lmdeploy|flash[-_]attn\w*|flashinfer[\w-]*|xformers|bitsandbytes|deepspeed|megatron[\w-]*|transformer[-_]engine[\w-]*|apex|cupy(?:-cuda\w+|-rocm[\w-]+)?|cudf[\w-]*|cuml[\w-]*|jax|jaxlib|jax-cuda[\w-]*|onnxruntime-gpu|tensorrt[\w-]*|triton|nvidia-[a-z-]+-cu1\d|nvidia-ml-py3?|pynvml|auto-?gptq|autoawq|exllama\w*"
       r"|mamba-ssm|causal-conv1d|faiss-gpu[\w-]*|numba-cuda|pycuda|torch-neuronx?|neuronx?-cc|paddlepaddle-gpu|intel-extension-for-pytorch|habana[\w-]*|torch_npu|cuda-python|unsloth|llama-cpp-python|torch_xla|cudatoolkit|nvidia-(?:dali|modelopt|nccl|cublas|cudnn|cuda)[\w-]*|tensorflow-text|rapids|nixl|deep_?ep|torchx|aphrodite-engine")
WORDS = [(name, re.compile(text, 0 if name in ("env",) else re.I)) for name, text in [
    ("resource", r"nvidia\.com/(?!hostdev|rdma|sriov|ib|mlnx|cx|resourcename|doca)(?:[\w.-]*gpu[\w.-]*|mig[\w.-]*|cuda[\w.-]*|gfd[\w.-]*|driver[\w.-]*|device-plugin[\w.-]*|dra-[\w.-]+|[abhlt]\d+[\w-]*|ga\w+|v1(?:alpha1|beta1)?\b)|\b(?:gpu|mig|vgpu|resource|compute-domain[\w-]*|apps)\.nvidia\.com\b|\bamd\.com/[\w.-]+|\bgpu\.amd\.com|\bgpu\.intel\.com(?:/[\w.-]+)?|\bintel\.com/gpu|\bhabana\.ai/\w+|huawei\.com/(?:ascend|npu)[\w-]*|aliyun\.com/gpu[\w-]*"
     r"|cloud\.google\.com/gke-(?:accelerator|gpu|tpu)[\w-]*|\bgoogle\.com/tpu|aws\.amazon\.com/neuron\w*|k8s\.amazonaws\.com/accelerator|karpenter\.k8s\.aws/instance-(?:gpu|accelerator)[\w-]*|kubernetes\.azure\.com/accelerator|(?:cambricon|hygon|metax-tech|mthreads|kunlunxin|enflame|birentech|tenstorrent)\.(?:com|cn)/[\w.-]+|(?:iluvatar|rebellions|furiosa)\.(?:ai|com|cn)/[\w.-]+|volcano\.sh/(?:v?gpu|npu)[\w-]*|tencent\.com/(?:vcuda|q?gpu)[\w-]*|tke\.cloud\.tencent\.com/q?gpu[\w-]*"
     r"|\bgpu-(?:fraction|memory)\b|koordinator\.sh/gpu[\w-]*|4paradigm\.com/\w+|feature\.node\.kubernetes\.io/pci-\w*(?:10de|1002)[\w.-]*|cloud-tpus\.google\.com/[\w.-]+"),
    ("image", r"nvcr\.io/(?!\w+/mellanox|nvidia/(?:distroless|doca|mellanox|cloud-native/(?:network|doca|mofed)))[\w${}./:@-]+|(?<![\w.-])nvidia/(?:cuda|cudagl|dcgm[\w-]*|k8s-device-plugin|gpu-[\w-]+|tritonserver|driver|opengl|samples)\b[\w:.-]*|(?<![\w-])rocm/[\w.-]+[\w:.-]*|vllm/vllm-[\w-]+[\w:.-]*|lmsysorg/sglang[\w:.-]*|text-generation-inference[\w:./-]*|text-embeddings-inference(?!:cpu)[\w:.-]*|[\w./-]*tritonserver:[\w.-]+"
     r"|ollama/ollama[\w:.-]*|openmmlab/lmdeploy[\w:.-]*|(?<![\w-])pytorch/(?:pytorch|torchserve|manylinux)[\w-]*:[\w.-]+|763104351884[\w./:${}-]+|deep-learning-containers/[\w./:-]+|deeplearning-platform-release/[\w./:-]+|vault\.habana\.ai/[\w./:-]+|ascend(?:ai)?/[\w-]+:[\w.-]+|llm-d/llm-d-[\w-]*(?:cuda|xpu|hpu|aws|rocm|gb200)[\w:.-]*|ai-dynamo/[\w:.-]+"
     r"|(?<=[\w}]):[\w.${}-]*(?:cuda|rocm|gpu|cublas|hipblas|neuron)[\w.-]*|(?<=[\w}]):[\w.-]*cu1[0-4]\d[\w.-]*|[\w.-]+/[\w./-]*(?:cuda|rocm|gaudi|habana|nvidia|vllm|sglang|tensorrt|stable-diffusion|comfyui|llama\.?cpp|whisper|(?<![a-z])tgi(?![a-z])|axolotl|deepspeed|megatron)[\w-]*:[\w.${}-]+"),
    ("machine", r"(?<![\w.-])(?:ml\.)?(?:p[2-6](?:d|de|dn|e|en|-b[23]00|e-gb\d+)?|g[3-7](?:s|dn|ad|g|gd|e|f)?|gr6f?|trn[1-3]n?|inf[12]|dl[12]q?|vt1)\.(?:\d*x?large|metal(?:-\w+)?)\b|\bStandard_N[CDVP]\w+|\bN[CDV]\d+\w*_v\d\b|\b(?:a2-(?:high|mega|ultra)gpu|a3-(?:high|mega|ultra|edge)gpu|a4x?-(?:high|max)gpu|g2-standard|g4-standard|ct[456]\w*-hightpu|ct5lp|tpu7x-standard)-[\w]+"
     r"|\b(?:BM|VM)\.GPU[\w.]*|\becs\.(?:ebm)?(?:v|s|scc)?gn\w*(?:-\w+)?\.[\w-]+|\b(?:GN\d\w*|PNV\d\w*|GT4|GI\d\w*)\.\w*LARGE\w*|\b(?:p[1-3](?:s|v|vs|sne|snl)|pi[1-3](?:ne|nl)?)\.\d*x?large\.\d+|\b(?:ecs|ml)\.(?:gni|pni|g1v|hpcpni|ebmhpcpni|ebmgni)\w*\.\w+|\b\d+gpu-\d+vcpu[\w-]*|(?:- |[\"'\[, ])(?:p[3-6](?:d|de|dn|e|en)|g4dn|g[56]e?|trn[12]n?|inf[12])(?=[\"'\],]|\s*$)"),
    ("accelerator", r"(?<![a-z0-9/])(?:nvidia[-_ ])?(?:tesla[-_ ]?)?(?:A100|H100|H200|H800|H20|A800|B200|B300|GB200|GB300|GH200|V100S?|P100|L40S|K80|A10G|DGX|HGX|MI\d{3}[AX]?|RTX[-_ ]?(?:A?\d{4}|pro)\w*|GTX[-_ ]?\d+|trainium\d?|inferentia\d?|gaudi[-_ ]?\d?|ascend[-_ ]?9\d\d\w*|tpu[-_ ]?v\d\w*|v5litepod-\d+|v[456][pe]-\d+)(?![a-z0-9])|(?:nvidia|tesla|gpu|accelerator)s?[\"']?[-_: =\[]{1,4}[\"']?(?:tesla[-_]?)?(?:T4|L4|A10|A16|A2|A30|A40|P4|P40|M60|L20|L40)\b"),
    ("driver", r"(?<![\w.-])nvidia[-_](?:driver|utils|container|docker|fabricmanager|smi|ctk|modprobe|persistenced|mps|cuda-mps|headless|dkms|imex|kernel|open|device-plugin|gpu|operator|runtime|peermem|vgpu|uvm|cdi|toolkit|mig|fs|gds|dra)[\w.*=-]*|\bcuda-(?:drivers?|toolkit|keyring|compat|runtime|libraries|nvcc|cudart|samples|repo|minimal|command-line|nvml|nvtx|cupti|nvrtc|\d+[.-]\d+)[\w.*=-]*"
     r"|\blibcudnn[\w.=-]*|\blibnccl[\w.=-]*|\blibnvidia[\w.=-]*|\bcudnn[\w.-]*|datacenter-gpu-manager[\w.-]*|\bdcgmi?\b|dcgm-exporter|NVIDIA-Linux[\w.-]+|\bamdgpu[\w-]*|\brocm[-\w]*|rocminfo|gpu-operator[\w-]*|gpu-feature-discovery|aws-neuron[\w-]*|neuron-device-plugin|habanalabs[\w-]*|\bintel-(?:opencl-icd|level-zero|i915|gpu)[\w-]*|\b(?:hl|npu|xpu|rocm|amd)-smi\b|dra-driver-[\w-]*gpu|k8s-device-plugin|(?:AMD|Nvidia|Intel)Gpu\w+|InstallGPUDrivers?|gdrcopy|cublas[\w.-]*"),
    ("flag", r"--gpus?(?=[ =\"',\]]|$)|--gres(?:-flags)?[= ]\S*gpu\S*|--(?:gpus|ntasks|mem|cpus)-per-(?:node|task|socket|gpu|gpu-bind)(?<!s-per-node|k-per-node)(?<=gpu)|--gpus-per-\w+|--gpu-bind\S*|\bgres/?gpu\S*|Gres=gpu\S*|--runtime[= ]nvidia|runtime[\"']?:\s*[\"']?nvidia|runtimeClass(?:Name)?[\"']?:\s*[\"']?(?:nvidia|amd|habana)\w*"
     r"|driver:\s*[\"']?nvidia|capabilities:\s*\[.*gpu|/dev/(?:nvidia\w*|kfd|dri\b|accel\d*|neuron\d*|davinci\w*)|nvidia-container-runtime|\bngpus\s*=|-gpu\s+[\"']num=|runs-on:.*(?:gpu|a100|h100|cuda)\S*"),
    ("env", r"\b(?:NVIDIA|CUDA|CUDNN|NCCL|RCCL|CUBLAS|HIP|ROCM|ROCR|HSA|HABANA|PT_HPU|NEURON|NEURONX|ASCEND|TORCH_CUDA|PYTORCH_CUDA|PYTORCH_HIP|TORCH_NCCL|VLLM|SGLANG|SGL|OLLAMA|TPU|DCGM|TENSORRT|TRT|TRTLLM|NVSHMEM|NVTE|FI_EFA|ZE_AFFINITY|ONEAPI)_[A-Z][A-Z0-9_]*\b|\bLIBVA_DRIVER_NAME\b"),
    ("engine", r"\bvllm serve|vllm\.entrypoints[\w.]*|sglang\.launch_server|text-generation-launcher|text-embeddings-router|\btritonserver\b|trtllm-\w+|\btorchrun\b|torch\.distributed\.(?:launch|run)\b|\bdeepspeed (?=[-\w$\"'./])|accelerate launch|ollama (?:serve|run|pull)|lmdeploy serve|llama-server|--n-gpu-layers|(?<=\s)-ngl\b"
     r"|(?:tensor|pipeline|expert|context|data)[-_](?:model[-_])?parallel(?:[-_]size)?\b|gpu[-_]memory[-_]utilization|--num[-_]gpus\S*|all_?reduce_perf|\bnccl-tests?\b|\brccl-tests?\b|axolotl (?:train|preprocess)|-m axolotl|\btune run\b|llamafactory-cli|\bnsys\b|horovodrun|fastchat\.serve[\w.]*|--nproc[-_]per[-_]node|nvbandwidth|gpu[-_]burn|max[-_]model[-_]len\b|trtexec|nvidia-cuda-mps"),
    ("build", r"whl/(?:nightly/|test/)?(?:cu\d+|rocm[\d.]*|xpu)|[+_-]cu1[0-4]\d\b|\bnvcc\b|\bhipcc\b|-D\w*(?:CUDA|HIP|ROCM|CUBLAS)\w*|\b(?:WITH|USE|ENABLE|GGML|LLAMA|BUILD|HOROVOD_GPU|FORCE)_(?:CUDA|ROCM|HIP|CUBLAS|NCCL)\w*|developer\.(?:download\.)?nvidia\.(?:com|cn)[\w./-]*|repo\.radeon\.com[\w./-]*|nvidia\.github\.io/[\w./-]+|/usr/local/cuda[\w./-]*|/opt/rocm[\w./-]*|CUDAExtension|cuda_?arch\w*|build_cuda\w*|\bcudf?-version|\bCUDA_?VER\w*"),
    ("package", r"(?<![\w./@-])(?:" + PKG + r")(?=\s*(?:[=<>~!]=|[<>](?!/)|\[|@|===)|[\"'],|[\"']\s*:)|^\s*(?:- )?[\"']?(?:" + PKG + r")[\"']?(?:[=<>~!\[;,][^:]*|\s*)\\?$|(?:pip3?|uv|conda|mamba|poetry|micromamba)[\w ]* (?:install|add|create|sync|pip)\b.*(?<![\w./-])(?:" + PKG + r")(?![\w/.-])|name\s*=\s*\"(?:" + PKG + r")\""),
    ("key", r"[\w./-]*gpus?(?![a-z]{3})[\w-]*[\"']?\]?\s*(?::(?!:|/)|=(?!=))\s*[\"'\[{]?[\w${\"'-]|[\w-]*\baccelerators?(?:[-_]?(?:type|count|name)s?)?[\"']?\s*[:=]\s*[\"'\[{]?\w|guest_?accelerators?\b|slots_per_trial|(?:device|deviceType|accelerator|platform)[\"']?\s*[:=]\s*[\"']?(?:cuda|gpu|hpu|xpu|npu|tpu)\b|\bKIND_GPU\b|\btpu[-_]?(?:type|topology|accelerator|slice)\w*[\"']?\s*[:=]"
     r"|\bcuda(?:[-_]?(?:version|toolkit|enabled?|home|arch\w*))?[\"']?\s*[:=]\s*[\"']?[\w${]|\bnvidia[\w-]*[\"']?\s*:|nvidia_\w+\s*[:=]|\b(?:use|enable|with|has|is)[_-]?gpus?\b|\bgpuShar\w+|\bmig[-_]?(?:config|strategy|devices|enabled|parted|profile)s?\w*[\"']?\s*[:=]|\bgpus?\s*\{"),
]]
PACKAGED = {"requirements", "pyproject", "setup.py", "setup.cfg", "conda environment", "Python lock"}
TRAIN = re.compile(r"\b(?:micro_batch_size\w*|train_micro_batch_size_per_gpu|per_device_train_batch_size|zero_optimization|gradient_checkpointing|flash_attention|attn_implementation|bf16|fp16|mixed_precision|distributed_type|num_processes|num_machines|load_in_[48]bit|fsdp\w*|deepspeed|devices|num_nodes|enable_activation_checkpointing|activation_checkpoint\w*|data_parallel\w*|dtype|use_cpu|gradient_accumulation_steps|tp_size|pp_size)\b[\"']?\s*[:=]", re.I)
CRD = re.compile(r"(?m)^kind:\s*CustomResourceDefinition")
MENTION = re.compile(r"gpu|cuda|nvidia|rocm|\btpu|vllm|torch(?!\w*light)|a100|h100|\bneuron|gaudi|accelerator", re.I)
QUICK = ("gpu nvid nvcr nccl rccl cuda cublas cudnn cudf cuml cupy rocm amd intel habana gaudi ascend neur accel tpu llm torch tens trit jax sgl lmdepl flash xform bitsand deeps megatron apex onnx gptq awq llama mamba causal faiss nixl aphrod rapids unsloth large metal andard_n mi1 mi2 mi3 rtx gtx dgx hgx"
         " k80 dcgm kfd /dri dev/ paral -ngl nproc nsys horovod fastchat trt whisper comfy diffusion axolotl tgi text-gen text-emb slots_ paradigm 10de 1002 libva oneapi hpu xpu npu ze_aff fi_efa radeon -smi run.ai mig device driver hip hsa_ tune cambricon hygon metax mthreads kunlun enflame biren tenstor iluvatar"
         " rebell furiosa koord tencent nvcc nvshmem nvte nvband cu1 exllama pynvml llama megat bm. vm. gres _v a100 h100 h200 h800 a800 v100 p100 l40 a10 b200 b300 gb200 gb300 gh200 h20 trn inf1 inf2 dl1 dl2 vt1 p2 p3 p4 p5 p6 g3 g4 g5 g6 g7 gr6 a2- a3- a4 g2 ct4 ct5 ct6 pnv gt4 gni pni v5 v6e v4 deep_ep deepep").split()
COMMENT = re.compile(r"^\s*(?:#(?!SBATCH|PBS|BSUB|\$|cloud-config)|//|/\*|\*\s|--\s|\{\{-?\s*/\*|;|rem\s|REM\s|<!--|\{#)")
NAMING = re.compile(r"^\s*(?:- )?[\"']?(?:name|name[-_]?suffix|name[-_]?prefix|service[-_]?account(?:name)?|config[-_]?map(?:name)?|secret[-_]?name|resourceClaimTemplateName|policyName|helm\.sh/chart|ai\.gke\.io/inference-server|display[-_ ]?name|description|title|summary|message|reason|legendFormat|definition|query|documentation|app|help|home|homepage|url|urls|\{?\s*role|role[-_]name|uses|package|package[-_]name|subPath|releaseName|targetNamespace|part-of|app\.kubernetes\.io/part-of|instance-?id|purpose|register|creates|path|repository|sources?|icon|label|default_branch|app\.kubernetes\.io/\w+|k8s-app|component|namespace|nameOverride|fullnameOverride|generateName|error_?message|alert|expr|expression|annotations\.\w+|keywords|author|maintainers?|AssociationProperty\w*|Label|Tag|en|zh-cn|stage|id|step|job|tags|constraintdescription|classifier\w*)[\"']?\s*[:=]\s*(.*)$", re.I)
SPEECH = re.compile(r"^\s*@?(?:echo|printf|print|log\w*|info|warn\w*|err\w*|die|fail|msg|title|Write-\w+|LABEL|MAINTAINER)\b(?!.*(?:>|\|))", re.I)
ZERO = re.compile(r"[:=]\s*[\"']?(?:0|false|null|none|no|~|cpu|\"\"|''|\[\]|\{\})[\"']?\s*(?:#.*|,)?$", re.I)
LOADS = re.compile(r"releases/download|download|whl/|developer\.|repo\.|github\.io|s3\.|raw\.|docker:|oci:|hf:|\.run\b|\.git@|git\+")

HELPER = re.compile(r"\{\{-?\s*(?:define|include|template|block|range|else|with|end)\b")
BARE = re.compile(r"[:=]\s*[\"']?(?:\$\([\w.+*/ -]+\)|\$\{?\w+\}?|\$\{[\w.]+\}|\$\{\{[^{}]*\}\}|\{\{[^{}]*\}\}|(?:var|local|each|module)\.[\w.]+|<[\w .-]+>|__\w+__)[\"']?[,\\ ]*(?:#.*)?$")
EMPTY = re.compile(r"^\s*(?:- )?[\"']?[\w./-]+[\"']?\s*(?::|=|(?=\{))\s*[\[{(|>]?\s*(?:#.*)?$")
OFF = re.compile(r"[:=]\s*[\"']?(?:0|false|no|off|null|none|~|auto)[\"']?,?\s*(?:#.*)?$", re.I)

# What holds words of GPUs and states nothing to a linter, by reason:
SCRIPTED = ("shell script", "Makefile", "CI workflow", "Slurm/PBS/LSF", "Ansible", "Dockerfile", "Cluster Toolkit", "cloud-init")
#   commands that look at, move or delete what is there, or rewrite text by a program that nobody runs here
HANDLING = re.compile(r"^\s*(?:- )?(?:[\w.-]+:\s*[\"']?)?@?(?:(?:RUN|sudo|!|if|while|until|then|do|&&|\|\||local|export|readonly)\s+)*(?:[\w-]+=[\"']?(?:\$\(|`)\s*|< ?<\()?[-@]?(?:timeout \S+ )?(?:(?:\$\{?K\w+\}?|kubectl) (?:-\S+ \S+ )*(?:get|describe|logs|patch)|nvcc --version|pgrep|jq|taskkill|readarray|e?grep|sed|awk|cp|rm|mv|mkdir|chmod|chown|unset|gsutil cp|aws s3 cp|git (?:checkout|add|rm|mv|clean)|systemctl [\w-]+|service \S+ \w+|lsmod|rmmod|cd|ls|cat|tail|head|ps|p?kill|killall|tar|rsync|touch|which|command -v|type|find|source|ldd|wc|readlink|dirname|basename|pushd|apt-get (?:remove|purge)|kubectl (?:-\S+ \S+ )*(?:get|logs|describe|delete|wait|rollout|exec|port-forward|cp|top|scale)|helm (?:uninstall|list|status|repo)|docker (?:logs|stop|rm|rmi|ps|exec|tag|push|inspect|save|load|kill))\b(?!.*(?:\s--gpus[= ]\S|docker run))")
#   a question to the machine: the answer stands in no file
ASKING = re.compile(r"(?:nvidia|rocm|amd|hl|npu|xpu)-smi\b(?!.*\s(?:-pm|-mig|-c|-pl|-ac|-lgc|-lmc|-e|-cgi|-cci|--(?:persistence-mode|multi-instance-gpu|compute-mode|power-limit|applications-clocks|lock-gpu-clocks|ecc-config|setcomputepartition|setmemorypartition|setperflevel|setpoweroverdrive))\b)")
#   what a test compares, and the pattern of a branch
TESTED = re.compile(r"(?:^|[\s;&|!(])(?:\[\[?|test)\s[^]]*$|^\s*\*?[\"'][^\"']*$|^\s*when:|^\s*ExecCondition=|^\s*(?:-\s+)?if:|\b(?:ifeq|ifneq|ifdef|ifndef)\b")
#   a branch that takes an option of the script itself
OPTION = re.compile(r"^\s*(?:-[\w-]+(?:=\S*)?\s*\|?\s*)+\)")
#   what a module of Terraform is given: its variables, their types and conditions, its outputs
DECLARED = re.compile(r"^\s*(?:variable|output|module|data|resource|provider|locals)\b[^=]*\{\s*$|=\s*(?:optional\(|(?:list|set|map)\(|object\(|(?:string|number|bool|any)\s*$)|^\s*(?:condition|depends_on|description)\s*=")
#   an expression of Terraform over what is stated elsewhere
REFERENCE = re.compile(r"\b(?:var|local|module|each|data|path|self)\.|\.value\b|\bfor \w+(?:, *\w+)? in\b")
COMPARED = re.compile(r"[!=]=\s*\"[^\"]*\"|contains\(\[[^\]]*\]")
#   what an agent of monitoring collects: dashboards and what they scrape are out of scope, too
COLLECTED = re.compile(r"^\s*(?:-|type:)\s*dcgm\s*$")
#   a condition of a task, and what it shows
CONDITION = re.compile(r"^\s*(?:when|failed_when|changed_when|until|that|var):")
#   a rule of make: its target and what it needs
RULE = re.compile(r"^(?:\.PHONY|[\w./%$(){}-]+(?:[ \t]+[\w./%$(){}-]+)*)[ \t]*::?(?!=)")
#   a path to what is installed, without a version
PATH = re.compile(r"(?:^|[\s\"'=:,(\[$}])(?:/|\.{1,2}/|C:/)(?!dev/)[\w./${}-]*$")

#   what a program prints, wherever on its line it stands; not what it writes into a file
SPOKEN = re.compile(r"(?:^|[;&|({]|\b(?:do|then|else))\s*@?(?:echo|printf)\s+(?:-\w+\s+)?(?:\"[^\"]*|'[^']*)$")
WRITTEN = re.compile(r"(?<![\d&])>>?\s*[\"']?[\w$/.{]|\|\s*(?:sudo\s+)?tee\b")
#   how something is called by who runs it: a cluster, a project, a lock of an operator
CALLED = re.compile(r"^\s*(?:export\s+)?[\"']?(?:resourceID|projectName|(?:\w+_)?(?:CLUSTER|PROJECT|APP|INSTANCE|RPM_DIR)_(?:NAME|ID)(?:_VALUE)?)[\"']?\s*(?:[?:]?=|:)")
#   a switch that is off
OFF_MAP = re.compile(r":\s*\{\s*\w+:\s*(?:false|no|off)\s*\}")

LABELS = ("labels", "matchLabels", "podLabels", "podAnnotations", "annotations", "commonLabels", "extraLabels")

def silent(cls, match, line, form):
    """Whether the words at a match are of what states nothing, whatever their class."""
    before, after = line[:match.start()], line[match.end():]
    if ASKING.search(line) and (cls == "driver" or "smi" in before): return True
    if re.search(r"torch\.(?:device|cuda)\b|@ray\.remote|import torch", line): return True  # source code within a document
    if cls == "key" and (re.match(r"[^.]*/", match.group(0)) or before.endswith(("/", "--query-"))): return True  # part of a path
    if form == "setup.py" and (cls == "build" or re.match(r"\s*name\s*=", line)): return True  # how an extension is compiled is source code; its own name
    if form.startswith(("Kubernetes", "Helm")) and cls == "driver" and re.match(r"\s*(?:- )?\"?(?:type|condition)\"?:", line): return True  # the name of a condition of nodes
    if "ENC[AES" in line: return True  # ciphertext
    if COLLECTED.match(line): return True
    if cls == "engine" and re.search(r"\$[{(]?$", before): return True  # a variable that is used: the engine is stated where it is set
    if re.match(r"\s*#SBATCH\s+(?:--job-name\b|-J\b)", line): return True  # how a job is called
    if form.startswith("Terraform") and re.match(r"\s*[\w-]+\s*=\s*\[\{\s*(?:#.*)?$", line): return True  # a list that is opened
    if cls == "driver" and (before.endswith(("--user ", "--user=")) or re.match(r"\s*-\s*[\w-]+\.service\s*$|\s*(?:- )?(?:dest|destination|path):", line)): return True  # a user, a service, where a file is put
    if re.search(r"echo\s+[\"']?[\w-]+=\$\{?\w+\}?[\"']?\s*>>\s*[\"']?\$", line): return True  # a value that is handed on
    if form.startswith(SCRIPTED) and cls in ("driver", "flag") and re.search(r"(?:^|[\s\"'=:,(@])(?:[\w.-]+/)+$", before) and ":" not in after.split(" ")[0] and not re.search(r"\d\.\d", match.group(0) + after.split(" ")[0]): return True  # a file of the repository
    if cls in ("machine", "engine") and before.endswith("/") and re.match(r"[/\"'\s)]|$", after) and not re.search(r"machineTypes/$|\s/$", before): return True  # a directory that is called so
    if form.startswith("Cluster Toolkit") and re.match(r"\s*(?:use|blueprint_name):|\s*\w+=[\w.-]+\.\w+,?\s*$|\s*[\w-]+:\s*[\"']?\$\([\w.+*/ -]+\)[\"']?\s*$|.*\bghpc_stage\(", line): return True  # modules that are referred to, files that are handed on
    if SPOKEN.search(before) and not WRITTEN.search(after): return True
    if "@sha256:" in before or cls == "engine" and re.search(r"--target[= ]$", before): return True  # a digest; what is compiled, not launched
    if CALLED.match(line) and cls != "image" or OFF_MAP.search(line): return True
    if cls == "key" and ASKING.search(line) and line[match.start():].find("$(") >= 0 and ASKING.search(line[match.start():]): return True  # its value is what the machine answers
    if cls == "env" and re.fullmatch(r"\s*-\s*[\"']?[A-Z_0-9]+[\"']?\s*", line): return True  # handed on by its name
    if form == "Chart.yaml" and re.match(r"(?:name:|\s+condition:)", line) or form == "pyproject" and re.match(r"\s*name\s*=", line): return True  # its own name, that of an index
    if re.match(r"\s*[\"']?apiVersion[\"']?\s*:", line): return True  # the group of a kind: its fields state something
    if form == "Python lock" and re.match(r"\s*[{\[]|\s*(?!name\b|version\b)[\w-]+ =", line): return True  # edges and wheels: the package's own table has its version
    if cls == "env" and (match.group(0).startswith("DCGM_FI_") or re.search(r"\$[{(]?$", before) and not re.search(r":?=", after[:3])): return True  # a metric; a value that is used, not set
    if cls == "image" and match.group(0).startswith(":") and (re.match(r":-|:\$\{", match.group(0)) or "/" not in before and not re.search(r"image|tag|FROM|docker", line, re.I)): return True  # a default of the shell, the name of a metric
    if cls in ("image", "engine", "driver", "build", "flag") and not match.group(0).startswith("/dev/") and PATH.search(before + match.group(0)[:1] if match.group(0)[0] == "/" else before) and not re.search(r"\d\.\d|-\d", match.group(0)): return True
    if form == "kustomization" and cls in ("driver", "image", "engine") and re.match(r"\s*-\s*[\w./-]+\s*$", line): return True  # an entry is a path
    if form.startswith(SCRIPTED):
        if HANDLING.match(line) or OPTION.match(line) or form.startswith(("Ansible", "Cluster")) and CONDITION.match(line): return True
        if cls in ("driver", "key", "accelerator", "image") and re.match(r"\s*[\w-]+\)\s*$", line): return True  # a branch of case
        if re.search(r"=[\"']?\$\{(\w+):?[-=]\}?[\"']?\}?[\"']?\s*$", line): return True  # its own value or nothing
        if cls in ("key", "env", "driver", "accelerator", "resource", "package") and TESTED.search(before) and (cls != "driver" or "[" in before): return True
        if form.startswith("Makefile") and RULE.match(line) and cls in ("key", "driver", "engine", "image", "build", "package"): return True
    return False

def derived(line):
    """Whether a line of Terraform states no text of GPUs: it refers to what is stated elsewhere, compares, or is a key of a table."""
    if re.match(r"\s*\"?[\w-]+\"?\s*=\s*(?:\{|\"[^\"]*\.(?:py|sh|ya?ml|json)\")", line) and not re.match(r"\s*[\w-]*(?:gpu|accelerator|machine|instance)", line, re.I): return True
    value = COMPARED.sub("", re.split(r"[=:]", re.sub(r"\s(?:#|//).*$", "", line), maxsplit=1)[-1])
    literals = re.findall(r"\"([^\"]*)\"", re.sub(r"\$\{[^{}]*\}", "", value))
    return bool(REFERENCE.search(line)) and not any(hits(literal) for literal in literals)

def stateless(cls, line, form):
    """Whether a line has words of GPUs, but no value that it states itself."""
    if form.startswith("Terraform") and (DECLARED.search(line) or cls in ("key", "machine", "accelerator") and derived(line)): return True
    if HELPER.search(line) and not re.search(r"[:=]\s*\{\{", line): return True
    if form.startswith("Dockerfile") and re.match(r"\s*ARG\s+\w+(?:=[\"']*)?\s*$", line): return True
    if re.match(r"\s*(?:dynamic\s+)?\"?guest_accelerator\"?\s*\{", line) or cls == "flag" and re.match(r"\s*capabilities:\s*\[", line): return True
    return cls in ("key", "env", "engine", "training", "resource", "build", "driver") and bool(BARE.search(line) or EMPTY.match(line) or cls == "training" and OFF.search(line))

def strength(cls, match, line, form):
    """strong or weak for one match of a class on a line."""
    if form != "setup.py" and COMMENT.match(line) or (hit := re.search(r"(?:^|\s)#\s", line)) and hit.start() < match.start(): return "weak"
    if stateless(cls, line, form) or silent(cls, match, line, form): return "weak"
    naming = NAMING.match(line)
    if naming and cls not in ("resource", "image"):
        whole = naming.group(1).strip(" ,\"'") == match.group(0).strip(" ,\"'") or cls == "package" and re.match(r"\s*(?:- )?[\"']?name\b", line)
        if not whole or cls not in ("env", "package") and (cls != "driver" or form not in ("Chart.yaml", "helmfile")): return "weak"
    if naming and cls == "image" and not re.match(r"^\s*(?:- )?[\"']?(?:name|repository|id)[\"']?\s*[:=]", line): return "weak"
    if cls == "env" and re.search(r"(?:URL|ENDPOINT|HOST|PORT|ADDR|KEY|TOKEN|BASE|SERVICE|MODELS?|IP|NAME|USER|DIR|ORIGINS|PID|LOG|VERSION)$", match.group(0)) and match.group(0)[:4] in ("VLLM", "OLLA", "SGLA", "SGL_"):
        return "weak"  # how a client finds a server
    if cls == "image" and re.search(r"github\.com|gitlab|readthedocs|docs?\.", line[max(0, match.start() - 30):match.end()]): return "weak"
    if cls == "package" and form.split(" (")[0] not in PACKAGED:
        bare = form.startswith(("Dockerfile", "shell", "SkyPilot", "Cog", "Truss", "BentoML")) and re.match(r"^\s*(?:- )?[\"']?[\w-]+[\"']?\s*\\?$", line)
        if not bare and not re.search(r"\b(?:pip3?|uv|conda|mamba|micromamba|poetry)\b|[=<>~!]=", line): return "weak"
    if cls == "accelerator" and re.match(r"\s*(?!.*(?:gpu|accel|machine|instance)\w*[\"']?\s*[:=])[\w.\"-]*name[\"']?\s*[:=]", line, re.I): return "weak"
    if SPEECH.match(line) or cls in ("key", "resource") and ZERO.search(line): return "weak"
    if cls == "package" and re.search(r"\+cpu|whl/cpu", line): return "weak"
    if cls == "key" and re.search(r"(?i)global.?accelerator|accelerator\w*[\"']?\s*[:=]\s*[\"']?(?:cpu|none|auto|s3)\b", line): return "weak"
    start = line.rfind(" ", 0, match.start()) + 1
    token = line[start:].split(" ", 1)[0]
    if "://" in token and cls not in ("package", "build", "machine") and not LOADS.search(token): return "weak"
    path = re.search(r"\.(?:ya?ml|json|md|sh|py|tf|tpl|ipynb|txt|go)\b|(?:^|[/\"'])Dockerfile[._]|/\*\*|^\s*-\s*[\"']?(?:\.\.?/|[\w.-]+/[\w./-]+[\"']?$)", token if cls != "accelerator" else line)
    if path and cls in ("accelerator", "engine", "driver", "key"): return "weak"
    if form.startswith("other") and cls in ("accelerator", "key", "package", "env", "build", "machine"): return "weak"  # a format that is not known to deploy anything
    return "strong"

@functools.lru_cache(1 << 17)
def hits(line):
    """All matches of all classes on a line."""
    low = line.lower()
    if not any(word in low for word in QUICK): return ()
    return tuple((cls, match) for cls, pattern in WORDS for match in pattern.finditer(line))

def speaks(text, form):
    """The lines that speak of GPUs: (number, word, class, strength)."""
    weak = MENTION.search(text)
    if "CustomResourceDefinition" in text:  # a schema says nothing of a deployment, wherever it stands
        text = "\n---".join("\n" * d.count("\n") if CRD.search(d) else d for d in text.split("\n---"))
    found, training = [], form.startswith("training configuration")
    cpu_index, parents = "whl/cpu" in text, []
    yamlish = form.startswith(("Kubernetes", "Flux", "Helm", "kustom", "Argo", "other YAML", "Karpenter", "Run:ai", "Ansible"))
    names = LABELS + (("roles", "tags") if form.startswith("Ansible") else ())
    before, script = "", form.startswith(SCRIPTED)
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > 4000: line = line[:4000]
        best, labelled = None, False
        goes_on = script and before.endswith("\\") and HANDLING.match(before) and not re.search(r"&&|;|\|", before)  # arguments of a command that states nothing
        before = (before[:-1] if before.endswith("\\") else "") + line.rstrip()
        if yamlish and line.strip() and not COMMENT.match(line):  # a label is a name that its author chose, unless machines are asked for by it
            depth = len(line) - len(line.lstrip())
            while parents and parents[-1][0] >= depth: parents.pop()
            labelled = bool(parents) and parents[-1][1] in names
            if key := re.match(r"\s*(?:- )?[\"']?([\w./-]+)[\"']?\s*:\s*(?:[&!|>#].*)?$", line): parents.append((depth, key.group(1)))
        for cls, match in hits(line):
            how = "weak" if goes_on else "weak" if labelled and cls in ("key", "driver", "resource", "accelerator", "image", "engine") else "weak" if cls == "package" and cpu_index else strength(cls, match, line, form)
            if best is None or how == "strong": best = (number, match.group(0).strip()[:80], cls, how)
            if how == "strong": break
        if training and (best is None or best[3] == "weak") and not COMMENT.match(line) and (match := TRAIN.search(line)) and not stateless("training", line, form): best = (number, match.group(0).strip(), "training", "strong")
        if best is None and weak and (match := MENTION.search(line)): best = (number, match.group(0), "mention", "weak")
        if best: found.append(best)
    return found

# ---------------------------------------------------------------- formats
SOURCE = set("go py rs c cc cpp cxx h hh hpp cu cuh hip s asm java kt scala js jsx ts tsx cjs mjs vue svelte css scss html htm proto bzl bazel pyx pxd pyi rb pl lua r jl cs fs swift m mm sql vim el nix cmake php groovy ex exs hs ml".split())
PROSE = set("md mdx rst adoc qmd po mo tex org rtf markdown shtml".split())
DATA = set("csv tsv jsonl log out lock sum mod snap parquet svg xml patch diff pem crt key pub ndjson golden expected map woff2 bpe vocab model props drawio mmd puml mermaid dot".split())
TEMPLATE = re.compile(r"(?:\.(?:j2|jinja2?|tmpl|tpl|template|tpl|in|gotmpl|tftpl|mustache|erb|dist|example|sample|bak|orig)|-template|\.jinja-\w+)$", re.I)
TEST = re.compile(r"(?:^|/)(?:testdata|test[-_]data|mock_data|fixtures?|goldens?|golden_files|__snapshots__|snapshots)(?:/|$)|(?:^|/)tests?/user-data/rendered/|_golden\.", re.I)
CI = re.compile(r"(?:^|/)\.(?:github/(?:workflows|actions)|circleci|azuredevops|azure-pipelines|pipelines|buildkite|gitlab|woodpecker|semaphore|ci)/|(?:^|/)(?:\.gitlab-ci|\.travis|azure-pipelines?|cloudbuild|buildspec|bitbucket-pipelines|\.drone|appveyor|\.cirrus)[\w.-]*\.ya?ml|(?:^|/)Jenkinsfile")
COMPONENT = r"kubeadm|kubelet\.config|kubeproxy|kind\.x-k8s\.io|k3d\.io|minikube|kubescheduler\.config|config\.kueue|component"

AUTOTOOLS = re.compile(r"\A.{0,400}(?:generated by automake|Generated by GNU Autoconf)", re.S | re.I)

def of_program(base, text):
    """The format of what a program is built, tested and described with: Autotools, expect, man; none of it is deployed."""
    if AUTOTOOLS.match(text): return "generated or data"
    if base in ("Makefile.am", "configure.ac", "configure.in") or base.endswith(".m4") or re.match(r"#!.*\b(?:expect|tclsh)\b", text): return "source code"
    if re.search(r"\.[1-9]$", base) and re.search(r"(?m)^\.TH ", text): return "prose"

def guide(path, text):
    """Whether YAML holds what people read: text with headings and code of Markdown, or a plan among documents."""
    markdown = re.search(r"(?m)^\s+```\w*\s*$", text) and re.search(r"(?m)^\s+#{2,4} \w", text)
    return bool(markdown) or bool(re.search(r"(?:^|/)docs?/(?:.*/)?plans?/", path))

def has(text, *keys):
    """Whether all keys stand at the top level of a YAML or JSON text."""
    return all(re.search(rf"(?m)^(?:[\"']?{k}[\"']?\s*:|\s{{0,4}}\"{k}\"\s*:)", text) for k in keys)

def kubernetes(text, name):
    """The format of a text that has apiVersion and kind, or None."""
    api = re.findall(r"(?m)^(?:\s*\"|\s{0,2}|- )apiVersion\"?\s*:\s*\"?'?([\w./{}$ -]+)", text)
    kind = re.findall(r"(?m)^(?:\s*\"|\s{0,2}|- )kind\"?\s*:\s*\"?'?([\w{}$. -]+)", text)
    kind = [k.strip() for k in kind]
    if not api or not kind: return "kustomization" if re.fullmatch(r"kustomization\.ya?ml|Kustomization", name) else None
    groups = " ".join(api)
    if set(kind) == {"CustomResourceDefinition"}: return "schema"
    if "ClusterServiceVersion" in kind: return "generated or data"  # what operator-sdk writes for a catalog of operators
    if set(kind) <= {"PrometheusRule", "GrafanaDashboard", "ServiceMonitor", "PodMonitor", "VMRule", "ScrapeConfig"}: return "monitoring (dashboard, rules)"
    for form, test in [("eksctl", r"\beksctl\.io"), ("kustomization", r"kustomize\.config\.k8s\.io"), ("Karpenter", r"karpenter\.(?:sh|k8s\.aws|azure)"), ("Flux", r"toolkit\.fluxcd\.io"),
                       ("Argo CD", r"argoproj\.io(?=.*\|(?:Application|ApplicationSet|AppProject)\|)"), ("Run:ai", r"\brun\.ai")]:
        if re.search(test, groups + "|" + "|".join(kind) + "|"): return form
    if name in ("kustomization.yaml", "kustomization.yml"): return "kustomization"
    if re.search(COMPONENT, groups) and not re.search(r"\bapps/|batch/", groups): return "cluster or component configuration"
    return "Kubernetes manifest"

def structured(text, name, path, ext):
    """The format of YAML, JSON or TOML that is not Kubernetes."""
    low = path.lower()
    kind = "YAML" if ext in ("yaml", "yml") else ext.upper()
    checks = [
        ("compose", re.match(r"(?:docker-)?compose[\w.-]*\.ya?ml$", name) or has(text, "services") and re.search(r"(?m)^\s+(?:image|build|container_name):", text) and not has(text, "resources")),
        ("docker-bake", re.match(r"docker-bake[\w.-]*\.json$", name)), ("helmfile", re.match(r"helmfile[\w.-]*\.ya?ml", name) or has(text, "releases") and "chart:" in text),
        ("CloudFormation", has(text, "AWSTemplateFormatVersion") or re.search(r"[\"']?Type[\"']?\s*:\s*[\"']?AWS::", text)),
        ("ROS", has(text, "ROSTemplateFormatVersion") or re.search(r"[\"']?Type[\"']?\s*:\s*[\"']?ALIYUN::", text)),
        ("ARM or Bicep", re.search(r"schema\.management\.azure\.com|deploymentTemplate\.json|deploymentParameters\.json|createUIDefinition", text, re.I)), ("Pulumi", name.startswith("Pulumi.")),
        ("cloud-init", text.lstrip().startswith("#cloud-config") or has(text, "runcmd") or has(text, "write_files")), ("Cluster Toolkit blueprint", has(text, "deployment_groups")),
        ("Cog", name == "cog.yaml"), ("BentoML", name in ("bentofile.yaml", "bentofile.yml")), ("MLflow or MLCube", name in ("MLproject", "mlcube.yaml")),
        ("dstack", name.endswith(".dstack.yml") or has(text, "type") and re.search(r"(?m)^type:\s*(?:task|service|dev-environment|fleet|gateway|volume)\s*$", text)),
        ("Determined", has(text, "entrypoint", "searcher") or "slots_per_trial" in text),
        ("MosaicML", kind == "YAML" and has(text, "compute", "image", "command") or has(text, "integrations", "command") or has(text, "gpu_num", "gpu_type")),
        ("Ray cluster or Serve", has(text, "cluster_name", "provider") or "available_node_types" in text or has(text, "applications") and "import_path" in text),
        ("Truss", name == "config.yaml" and (has(text, "model_metadata") or has(text, "resources", "requirements") or "use_gpu" in text)),
        ("SkyPilot", has(text, "resources") and (has(text, "run") or has(text, "setup") or has(text, "num_nodes")) or re.search(r"(?m)^\s+accelerators:", text) and has(text, "resources")),
        ("conda environment", has(text, "dependencies") and (has(text, "channels") or "environment" in low or "conda" in low) or name == "meta.yaml" and has(text, "requirements")),
        ("device plugin or MIG configuration", has(text, "mig-configs") or has(text, "flags", "sharing") or has(text, "sharing", "version") or has(text, "vgpu-configs") or "failRequestsGreaterThanOne" in text),
        ("container runtime configuration", name in ("daemon.json", "config.toml") and re.search(r"containerd|runtimes|nvidia", text)),
        ("training configuration (DeepSpeed)", has(text, "zero_optimization") or re.search(r"\"train_(?:micro_)?batch_size", text)),
        ("training configuration (accelerate)", has(text, "compute_environment") or has(text, "distributed_type")),
        ("training configuration (axolotl)", has(text, "base_model") and (has(text, "datasets") or has(text, "micro_batch_size"))),
        ("training configuration (LLaMA-Factory)", has(text, "model_name_or_path")), ("training configuration (torchtune)", re.search(r"(?m)^\s+_component_:", text)),
        ("training configuration (other)", re.search(r"(?m)^\[(?:training|parallelism|model|job)\]", text) and ext == "toml" and "parallelism" in text or has(text, "MODEL_ARGS") or has(text, "exp_manager") or has(text, "trainer", "model") or has(text, "datamodule") or has(text, "checkpoint_dir", "devices") or has(text, "initial_checkpoint_dir", "devices") or has(text, "tp_size") or has(text, "deviceType", "handler") or has(text, "per_device_train_batch_size") or has(text, "tokenizer", "optimizer")),
        ("Talos", has(text, "machine") and has(text, "cluster") or "/talos/" in low),
        ("GitHub or tool meta", re.search(r"(?:^|/)(?:\.github/(?:dependabot|labeler|release|renovate|codeql|issue_template|archive|[\w-]+$)|\.?(?:renovate|dependabot|mkdocs|codecov))|(?:^|/)\.(?:pre-commit|golangci|goreleaser|krew|codespell|coderabbit|vscode|mergify)", low)),
        ("schema", has(text, r"\$schema") and has(text, "properties") or name in ("openapi.yaml", "swagger.json")),
    ]
    if form := next((form for form, test in checks if test), None): return form
    if ext in ("yaml", "yml") and (re.search(r"(?:^|/)(?:roles|playbooks?|ansible|group_vars|host_vars|inventory|handlers|tasks)/", low) or re.search(r"(?m)^-\s+(?:hosts|name|block|import_playbook|include_tasks):", text) and re.search(r"(?m)^\s+(?:ansible\.|community\.|become|tasks:|when:|shell:|command:|apt:|set_fact:|register:)", text)):
        return "Ansible"
    if re.search(r"(?m)^\s*(?:\"grafana\"|\"?panels\"?\s*:)|^\s*- alert:|scrape_configs", text): return "monitoring (dashboard, rules)"
    if ext == "json" and len(text) > 60000: return "generated or data"
    return "other " + kind

def classify(path, text, charts, patches):
    """The format of a file, by its path in the repository and its text."""
    name, low = os.path.basename(path), path.lower()
    if TEST.search(path) or name.endswith(".txtar") or name.endswith(".snap"): return "test data"
    if re.search(r"(?:^|/)(?:qa|tests?|t)/(?:.*/)?[^/]*test[^/]*\.(?:sh|bats)$", path): return "source code"  # tests of a program that are written in shell, as those in Python and Go
    if re.search(r"(?:^|/)(?:vendor|node_modules|third_party|site-packages)/", path): return "vendored"
    templated, base = "", name
    while (cut := TEMPLATE.sub("", base)) != base and cut:
        templated, base = " (template)", cut
    ext = base.rsplit(".", 1)[-1].lower() if "." in base else ""
    lowbase = base.lower()
    inchart = next((c for c in charts if c == "" or path.startswith(c + "/")), None)
    inner = path[len(inchart) + 1 if inchart else 0:] if inchart is not None else ""
    if ext == "ipynb": return "notebook"
    if form := of_program(name, text) or of_program(base, text): return form
    if name in (".gitignore", ".dockerignore", ".helmignore", ".gitattributes") or ext == "excalidraw" or re.search(r"\.md\b", lowbase): return "prose"
    if lowbase.endswith(".schema.json"): return "schema"
    if ext in ("yaml", "yml") and not kubernetes(text, base) and guide(low, text): return "prose"
    if base in ("setup.py", "setup.cfg", "pyproject.toml", "pixi.toml", "Pipfile"): return {"pixi.toml": "pyproject", "Pipfile": "pyproject"}.get(base, base.replace(".toml", ""))
    if base in ("uv.lock", "poetry.lock", "pixi.lock", "Pipfile.lock", "conda-lock.yml", "pdm.lock"): return "Python lock"
    if re.match(r"(?:[\w.-]*dockerfile[\w.-]*|[\w.-]*containerfile[\w.-]*)$", lowbase) and ext not in SOURCE | PROSE | {"dockerignore", "sh", "yaml", "yml", "json"} and re.search(r"(?mi)^\s*FROM\s|^ARG |^RUN |^\{[{%]|^#include|^COPY ", text):
        return "Dockerfile" + templated
    if inchart is not None and re.match(r"(?:.*/)?templates/", inner) and ext not in SOURCE: return "prose" if ext == "txt" else "schema" if kubernetes(text, base) == "schema" else "Helm template"
    if base == "Chart.yaml" or base in ("Chart.lock", "requirements.yaml") and inchart is not None: return "Chart.yaml"
    if inchart is not None and re.match(r"(?:.*/)?crds?/", inner): return "schema"
    if re.search(r"(?:^|/)(?:playbooks?|roles|group_vars|host_vars)/", low) and inchart is None and ext in ("yaml", "yml") and re.search(r"values|vars|defaults", low) and not kubernetes(text, base): return "Ansible" + templated
    if re.match(r"(?:.*[-_.])?values[\w.-]*(?:\.ya?ml)?$", lowbase) and ext in ("yaml", "yml", "") and not kubernetes(text, base):
        return "Helm values" if inchart is not None else "Helm values (no chart beside)"
    if ext == "bicep": return "ARM or Bicep"
    if ext in ("tf", "tofu", "tfvars") or re.search(r"\.tf(?:vars)?\.json$", lowbase): return "Terraform" + templated
    if ext in ("nomad",) or ext == "hcl" and re.search(r'(?m)^job\s+"', text): return "Nomad"
    if ext == "hcl" or lowbase.endswith(".pkr.json"): return "generated or data" if ".lock." in lowbase else "docker-bake" if re.search(r'(?m)^(?:target|group)\s+"', text) else "Terraform"
    if ext == "pbtxt": return "Triton config.pbtxt" if re.search(r"\b(?:backend|platform|instance_group|max_batch_size)\b", text) else "generated or data"
    if CI.search(path) and ext not in SOURCE | PROSE | {"sh"} or base in ("action.yml", "action.yaml") and "runs:" in text: return "CI workflow" + templated
    if ext not in SOURCE | PROSE | DATA and re.search(r"(?m)^#(?:SBATCH|PBS|BSUB)\s", text): return "Slurm/PBS/LSF script" + templated
    if re.fullmatch(r"(?:gres|slurm|cgroup|slurmdbd|enroot|topology|node)\.conf", base): return "Slurm configuration"
    if lowbase in ("makefile", "gnumakefile", "justfile", "taskfile.yml", "taskfile.yaml", "tiltfile") or ext in ("mk", "just") or re.match(r"Makefile[.-]", base): return "Makefile"
    if ext in SOURCE or lowbase == "cmakelists.txt": return "source code"
    if ext in PROSE or base.upper() in ("LICENSE", "NOTICE", "OWNERS", "CODEOWNERS", "README", "PATENTS", "AUTHORS", "CONTRIBUTING", "CHANGELOG"): return "prose"
    if ext == "txt" or re.search(r"requirements|constraints", lowbase) and ext in ("in", "pip", "txt", ""):
        line = re.compile(r"(?m)^[ \t]*(?:[A-Za-z][\w.-]*(?:\[[\w,. -]+\])?[ \t]*(?:[=<>~!]=|[<>@;]|$)|-[rcefi]|--\w)")
        names = re.search(r"require|constraint|(?:^|[/_.-])deps?|pip|packages", low)
        return "requirements" if names and line.search(text) else "prose"
    if ext in DATA or base in ("go.sum", "yarn.lock", "pnpm-lock.yaml", "package-lock.json", "package.json", "tsconfig.json") or "tokenizer" in lowbase: return "generated or data"
    shebang = re.match(r"#!.*\b(?:ba|z|k|da)?sh\b", text)
    if ext in ("sh", "bash", "zsh", "ksh", "fish") or shebang or ext in ("slurm", "sbatch", "sub"): return "shell script" + templated
    if ext in ("ps1", "psm1", "bat", "cmd"): return "PowerShell or batch script"
    if re.match(r"#!.*\bpython", text): return "source code"
    if re.search(r"(?m)^FROM \S+", text) and re.search(r"(?m)^(?:RUN|ENTRYPOINT|COPY|CMD) ", text): return "Dockerfile" + templated
    if text.lstrip().startswith("#cloud-config"): return "cloud-init" + templated
    if ext in ("yaml", "yml", "json", "toml", "json5") or templated and (kubernetes(text, base) or re.search(r"(?m)^[\w-]+:\s", text)):
        if ext in ("yaml", "yml") and path in patches: return "kustomize patch"
        plain = text if ext != "json" or '"apiVersion"' in text else ""
        form = kubernetes(plain, base) if ext != "toml" else None
        if form is None and re.search(r"(?m)^-?\s*\"?op\"?:\s*\"?(?:add|replace|remove)\"?", text) and "path" in text: form = "kustomize patch"
        if form is None and has(text, "suite", "tests") and inchart is not None: return "test data"
        if form is None and inchart is not None and inner.startswith("ci/"): form = "Helm values"
        return (form or structured(text, base, path, ext if ext in ("json", "toml") else "yaml")) + ("" if form == "schema" else templated)
    if ext == "env" or base.startswith(".env") or lowbase.startswith("env.") or base in ("env", "envs", "env_vars", "config.env"): return "env file"
    if ext in ("service", "timer", "socket"): return "systemd unit"
    if ext == "def" and "bootstrap:" in text.lower(): return "Apptainer definition"
    if ext in ("conf", "cfg", "ini", "properties", "rules") or base in ("control", "hosts", "inventory"): return "other configuration"
    return "source code" if templated and re.search(r"(?m)^(?:import|package|#include|def|func)\b", text) else "other text"

# ---------------------------------------------------------------- repositories
def patched(root, path, text):
    """The files that a kustomization names as patches."""
    try:
        docs = [d for d in yaml.safe_load_all(text) if isinstance(d, dict)] if yaml else []
    except Exception: return
    for doc in docs:
        for key in ("patches", "patchesStrategicMerge", "patchesJson6902"):
            for item in doc.get(key) or []:
                name = item if isinstance(item, str) else item.get("path") if isinstance(item, dict) else None
                if name and "\n" not in name: yield os.path.normpath(os.path.join(os.path.dirname(path), name))

def survey(root):
    """Every regular text file: path, format, and lines that speak (in scope only)."""
    files, charts, patches = [], set(), set()
    for folder, dirs, names in os.walk(root):
        dirs[:] = sorted(d for d in dirs if d != ".git")
        for name in sorted(names):
            full = os.path.join(folder, name)
            if os.path.islink(full) or not os.path.isfile(full) or os.path.getsize(full) > MAX: continue
            files.append(os.path.relpath(full, root))
            if name == "Chart.yaml": charts.add(os.path.relpath(folder, root).replace(".", "", 1) if folder == root else os.path.relpath(folder, root))
    charts = sorted(charts, key=len, reverse=True)
    for path in files:
        if re.search(r"(?:^|/)[Kk]ustomization(?:\.ya?ml)?$", path): patches.update(patched(root, path, open(os.path.join(root, path), errors="replace").read()))
    for path in files:
        ext = path.rsplit(".", 1)[-1].lower()
        if ext == "py" and not path.endswith("setup.py") or ext in SOURCE - {"py"} and not CI.search(path) or ext in ("png", "jpg", "jpeg", "gif", "mp4", "tgz", "gz", "zip", "pdf", "so", "pt", "bin", "ico", "woff", "whl", "safetensors", "webp", "wav", "mp3"):
            yield path, "source code" if ext in SOURCE else "binary", []
            continue
        if ext in ("txt", "json", "jsonl", "out", "log", "lock") and os.path.getsize(os.path.join(root, path)) > 1 << 20 and not path.endswith(("uv.lock", "pixi.lock", "poetry.lock")):
            yield path, "generated or data", []
            continue
        with open(os.path.join(root, path), "rb") as file:
            raw = file.read()
        if b"\0" in raw[:8192]:
            yield path, "binary", []
            continue
        text = raw.decode("utf-8", "replace").replace("\r\n", "\n").lstrip("\ufeff")
        form = classify(path, text, charts, patches)
        yield path, form, [] if form.split(" (")[0] in OUT_OF_SCOPE else speaks(text, form)

# ---------------------------------------------------------------- against gpulint
ECHO = re.compile(r"instructions\[\]|\.(?:words|command|copies)\[\]|(?:^|\.)objects\[\]|resources\[\]\.(?:type|name)$|\.(?:path|kind|api_version|format|role|intent|stage|namespace|platform|replicas|shm|program|keyword|at)$|(?:workloads|services|releases|containers|pods|routes)\[\]\.name$|\.labels\.|software\.(?:os|compiler|python)|\.flags\.program$")
TYPED = re.compile(r"mounts\[\]\.path$")  # typed facts whose last word is that of an echo
# Documents that `gpulint facts` names as a whole (objects[].kind) and whose fields a rule reads: the lines, and a rule that reads them.
HELD = {
    "TritonModelConfig": (re.compile(r"\bkind\b|\bgpus\b|\bcount\b"), "scheduling/model-on-gpu-not-there"),
    "DevicePluginConfig": (re.compile(r"\bname\b|\breplicas\b|\brename\b|Strategy"), "scheduling/gpu-sharing-config-invalid"),
    "SlurmScript": (re.compile(r"^#SBATCH\s+--(?:mem-per-gpu|cpus-per-gpu|ntasks-per-gpu|gpus-per-task|gpu-bind)\b"), "scheduling/slurm-options-exclude-each-other"),
    "SlurmConfig": (re.compile(r"(?i)\bgres=|^\s*GresTypes=|\bDefMemPerGPU="), "scheduling/slurm-gres-types-without-gpu"),
    "GresConfig": (re.compile(r"(?i)\bName=gpu\b"), "scheduling/slurm-gpu-without-device-file"),
    "TalosSchematic": (re.compile(r"^\s*-\s*siderolabs/(?:amdgpu|nvidia|nonfree-kmod|i915|xe)\b"), "compatibility/talos-schematic-without-driver"),
    "HamiDeviceConfig": (re.compile(r"^\s*(?:resource\w+Name|- models):|^\s*- name: \d+g\.\d+gb"), "scheduling/hami-mig-geometry-unknown"),
    "AccelerateConfig": (re.compile(r"^\s*(?:distributed_type|gpu_ids|num_processes|fsdp_(?:version|reshard_after_forward|state_dict_type|sharding_strategy|backward_prefetch|forward_prefetch|sync_module_states|use_orig_params|cpu_ram_efficient_loading|auto_wrap_policy))\b"), "compatibility/accelerate-option-of-fsdp1"),
    "RayCluster": (re.compile(r"\bnum-gpus\b"), "interconnect/ray-num-gpus-mismatch"),
    "RayService": (re.compile(r"\bnum-gpus\b"), "interconnect/ray-num-gpus-mismatch"),
    "RayJob": (re.compile(r"\bnum-gpus\b"), "interconnect/ray-num-gpus-mismatch"),
}
GPU_FACT = re.compile(r"(?:^|\.)(?:gpus|gpu_\w+|device|device_name|devices\[\]|group_gpus|ranks|cuda|cudnn|nvcc|min_driver|driver|accelerators?|min_compute_capability|node\.gpu\.\w+|gpu\.\w+|launch\.\w+|training\.\w+|trainings\[\]\.(?!path|trainer)\w+|device_claims\[\].*|device_classes\[\].*|quotas\[\]\.\w+|(?:limits|requests)\.[\w.-]+/[\w.-]+|(?:device_)?settings\[\]\.\w+|variant)$")
FALSY = (0, False, None, "", "none", [], 0.0)

def flatten(node, path, found):
    """Facts that have a place and a value: (path of keys, value, place)."""
    if isinstance(node, dict):
        if "at" in node and "value" in node and not isinstance(node["value"], (dict, list)): found.append((path, node["value"], node["at"]))
        for key, value in node.items():
            if key not in ("at", "value", "unknown"): flatten(value, f"{path}.{key}" if path else key, found)
    elif isinstance(node, list):
        for value in node: flatten(value, path + "[]", found)

def norm(text):
    return re.sub(r"[^a-z0-9]", "", str(text).lower())

def reports(paths, repo, alone):
    """Facts of one repository by file and line, and what check said of files it left out."""
    facts, left = collections.defaultdict(lambda: collections.defaultdict(set)), {}
    names = [os.path.join(p, n) for p in paths if os.path.isdir(p) for n in sorted(os.listdir(p)) if n.endswith(".json")]
    inner = lambda path: path[len(repo) + 1:] if path.startswith(repo + "/") else path
    for name in names + [p for p in paths if not os.path.isdir(p)]:
        if not alone and not os.path.basename(name).startswith(repo + "."): continue
        try: data, found = json.load(open(name)), []
        except ValueError: sys.exit(f"{name}: no report")
        if "files" in data:
            for group in ("skipped", "excluded"):
                for item in data["files"].get(group) or []: left[inner(item.get("path", "?"))] = item.get("reason") or item.get("by") or group
            continue
        flatten(data, "", found)
        for keys, value, at in found:
            place = at.rsplit(":", 2)
            if len(place) == 3 and place[1].isdigit():
                first = int(place[1])
                for line in range(first, first + 1 + str(value).rstrip("\n").count("\n")): facts[inner(place[0])][line].add((keys, value if not isinstance(value, str) else value[:300], int(place[2]) if line == first else 0))
    return facts, left

def belongs(keys, value, line, word):
    """Whether a fact on a line is what the line states."""
    names, shown, low = keys.split("."), str(value).lower(), line.lower()
    last = norm(names[-2] if names[-1] in ("value", "written") and len(names) > 1 else names[-1])  # a variable has its value below its name
    return GPU_FACT.search(keys) or len(shown) > 2 and (shown in low or word.lower() in shown) or len(last) > 2 and last in norm(line)

VALUE = re.compile(r"\s*(?:- )?(?:[\"']?[\w./-]+[\"']?\s*[:=]\s*)?")
SET = re.compile(r"\s*(?:(?:export|local|readonly)\s+|: *\"?\$\{)?(\w+):?=(?:\"?\$\{\w+:-)?[\"']?([\w.:/-]+)\b")

def is_value(line, column, value):
    """Whether a fact stands where the value of a line begins, and is that value."""
    at, shown = VALUE.match(line).end(), norm(value)
    return bool(shown) and column - 1 == at and norm(line[at:].split(" #")[0]) == shown

ENTRY = re.compile(r"\s*(?:- )?[\"']?([\w.-]+)[\"']?\s*:\s*[\"']?([^\"'#]+?)[\"']?\s*(?:#.*)?$")

def computed(root, path, facts):
    """For the values of a chart: whether a line states what its templates make a typed fact of, by the same key and value or on a line that names the key."""
    typed = lambda keys, value: value not in FALSY and (not ECHO.search(keys) or TYPED.search(keys))
    inside = next((d for d in chain_of(path) if any(f.startswith(d + "templates/") for f in facts)), None)
    if inside is None: return lambda line: False
    pairs, made = set(), []
    for file, at in facts.items():
        if not file.startswith(inside + "templates/"): continue
        source = open(os.path.join(root, file), errors="replace").read().split("\n")
        for number, group in at.items():
            own = [(keys, value) for keys, value, _ in group if typed(keys, value)]
            pairs.update((norm(keys.rsplit(".", 1)[-1]), norm(value)) for keys, value in own)
            if own and number <= len(source) and "{{" in source[number - 1]: made.append(source[number - 1])
    def reads(line):
        entry = ENTRY.match(line)
        return bool(entry) and ((norm(entry.group(1)), norm(entry.group(2))) in pairs or any(re.search(rf"\.{re.escape(entry.group(1))}\b", other) for other in made))
    return reads

def chain_of(path):
    """The directories above a file, nearest first, each with a slash at its end unless it is the top."""
    parts = path.split("/")[:-1]
    return ["".join(part + "/" for part in parts[:n]) for n in range(len(parts), -1, -1)]

def judge(lines, facts, text, beside="", made=lambda line: False):
    """State of each strong line: read, echoed, untouched."""
    states, source = [], text.split("\n")
    values = {str(value).lower() for at in facts.values() for keys, value, _ in at if not ECHO.search(keys) and not isinstance(value, (bool, int, float))}
    held = [HELD[value][0] for at in facts.values() for keys, value, _ in at if keys == "objects[].kind" and value in HELD]
    for number, word, _, how in lines:
        if how != "strong": continue
        line, state = source[number - 1], "untouched"
        for keys, value, column in facts.get(number, ()):
            typed = not ECHO.search(keys) or TYPED.search(keys)
            if typed and value not in FALSY and (belongs(keys, value, line, word) or is_value(line, column, value)):
                state = "read"
                break
            state = "echoed" if ECHO.search(keys) or value not in FALSY else state
        if state != "read" and any(lines_of.search(line) for lines_of in held): state = "read"
        stated = re.match(r"\s*(?:(?:export|local|readonly|ARG|ENV)\s+)?[\w.-]+\s*(?::|[:?]?=)\s*[\"']?([\w./:@+-]{4,})[\"']?,?\s*(?:#.*)?$", line)
        if state != "read" and stated and stated.group(1).lower() in values:
            state = "read"  # a variable or its default: the fact of this value stands where it is used
        given = SET.match(line)
        if state != "read" and given and "$" in text:
            # a variable of a script: the fact of its value stands on a line that uses it
            use = re.compile(r"\$\{?" + given.group(1) + r"\b")
            uses = (n for n, other in enumerate(source, 1) if n != number and n in facts and use.search(other))
            if any(str(value) == given.group(2) and (not ECHO.search(keys) or TYPED.search(keys)) for n in uses for keys, value, _ in facts[n]): state = "read"
        named = next((token.strip("\"',;") for token in line.split() if word in token), "").lower()
        if state != "read" and re.search(r"\d\.\d", named) and named in values:
            state = "read"  # a file: the fact of it stands where it is installed
        alone = re.match(r"\s*-?\s*[\"']?--?[\w-]+[\"']?,?\s*\\?$", line)
        if state != "read" and alone and any(re.search(r"launch\.(?!words)\w|training\.\w", k) and v not in FALSY for k, v, _ in facts.get(number + 1, ())):
            state = "read"  # a flag whose value, and so whose fact, stands on the next line
        if state != "read" and facts and "{{" in line and len(norm(word)) > 4 and norm(word) in beside:
            state = "read"  # a template line whose value, and so whose fact, stands in the values of its chart
        if state != "read" and made(line): state = "read"  # a value of a chart: the fact stands where a template computes with it
        states.append((number, word, state))
    return states

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repos", nargs="+")
    parser.add_argument("--formats", action="store_true")
    parser.add_argument("--against", action="append", nargs="+", default=[], metavar="REPORT")
    for option in ("--tsv", "--json"): parser.add_argument(option)
    args = parser.parse_args()
    given = [a for group in args.against for a in group]
    repos = [r for r in args.repos if os.path.isdir(r)]
    facts, left = {}, {}
    table, missed, every = collections.defaultdict(collections.Counter), [], []
    for root in repos:
        repo = os.path.basename(os.path.normpath(root))
        if given: facts, left = reports(given, repo, len(repos) == 1)
        for path, form, lines in survey(root):
            strong = [x for x in lines if x[3] == "strong"]
            row = table[form]
            row.update(["files", "strong" if strong else "weak" if lines else "silent"])
            record = {"repo": repo, "path": path, "format": form, "strength": "strong" if strong else "weak" if lines else "none", "lines": lines}
            if strong and given:
                why = next((v for k, v in left.items() if path == k or path.startswith(k + "/")), None)
                if why and "test data or an archive" in why:
                    row.update({"strong": -1, "left out": 1})
                    continue
                own = facts.get(path) or {}
                stem, beside = path.split("templates/")[0], ""
                if form == "Helm template":
                    beside = " ".join({norm(k) for f, at in facts.items() if f.startswith(stem) and "/templates/" not in f for group in at.values() for k, *_ in group})
                made = computed(root, path, facts) if form.startswith("Helm values") or "/overrides/" in path else lambda line: False
                states = judge(lines, own, open(os.path.join(root, path), errors="replace", newline="").read().replace("\r\n", "\n"), beside, made)
                read = sum(s == "read" for *_, s in states)
                verdict = "understood" if read == len(states) else "partly" if read else "not"
                row.update({"lines": len(states), "lines read": read, verdict: 1})
                why = f"left out: {why}" if why else "no fact from this file" if not own else "echoed only" if any(s == "echoed" for *_, s in states) else "facts, none of GPUs"
                record.update(verdict=verdict, why=why, states=states)
                if verdict == "not":
                    missed.append((repo, path, form, why.replace("\n", " ")[:120], ", ".join(dict.fromkeys(f"{c}:{w}" for _, w, c, _ in strong))[:240]))
            if args.json or not given and not args.formats and lines: every.append(record)
    if args.json: json.dump(every, open(args.json, "w"))
    elif not given and not args.formats:
        for record in every: print(json.dumps(record))
        return
    columns = ["files", "strong", "weak"] + (["understood", "partly", "not", "lines", "lines read", "left out"] if given else [])
    total = collections.Counter()
    print("| format | " + " | ".join(columns) + " |\n|---|" + "---:|" * len(columns))
    for form, row in sorted(table.items(), key=lambda x: -x[1]["strong"]):
        if form.split(" (")[0] not in OUT_OF_SCOPE:
            print(f"| {form} | " + " | ".join(str(row[c]) for c in columns) + " |")
            total.update(row)
    print("| **all in scope** | " + " | ".join(f"**{total[c]}**" for c in columns) + " |")
    print("\nOut of scope: " + ", ".join(f"{f} {r['files']}" for f, r in sorted(table.items(), key=lambda x: -x[1]["files"]) if f.split(" (")[0] in OUT_OF_SCOPE))
    if args.tsv:
        with open(args.tsv, "w") as file:
            file.write("repo\tpath\tformat\twhy\twords\n" + "".join("\t".join(x) + "\n" for x in sorted(missed)))

if __name__ == "__main__":
    main()
