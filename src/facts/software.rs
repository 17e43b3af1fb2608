//! Images and what is installed in them.

use super::value::entities;
use super::words::{PackageFileKind, PackageManager, PythonHome};
use super::{Labels, Launch};
use crate::known::Fact;
use crate::version::Version;
use std::collections::BTreeMap;
use std::sync::Arc;

entities! {
    /// An image reference.
    Image {
        /// As written.
        reference: Fact<String>,
        /// Registry host; docker.io when none is written.
        registry: Fact<String>,
        /// Repository without the registry and without `library/`: nvidia/cuda, vllm/vllm-openai.
        repository: Fact<String>,
        /// Last component of the repository: vllm-openai.
        name: Fact<String>,
        /// Tag as written; absent when none is.
        tag: Fact<String>,
        /// Digest as written.
        digest: Fact<String>,
        /// Image family of the catalog: nvidia/cuda, pytorch/pytorch, nvcr.io/nvidia/pytorch.
        family: Fact<String>,
        /// Platform asked for (`FROM --platform`, Compose `platform`).
        platform: Fact<String>,
        /// The build in these files that makes it.
        build: Option<Arc<Build>>,
        /// Whether something in these files makes it: a Dockerfile, a command, a pipeline, a builder.
        #[joined = true]
        made_here: Fact<bool>,
    }

    /// What is installed in an image or on a machine, as far as files and catalog tell.
    Software {
        /// CUDA toolkit or runtime of the image.
        cuda: Fact<Version>,
        /// base, runtime or devel.
        flavor: Fact<String>,
        /// cuDNN of the image; only the major part when the tag says no more.
        cudnn: Fact<Version>,
        /// TensorRT of the image.
        tensorrt: Fact<Version>,
        /// NGC release month, 24.05.
        ngc: Fact<Version>,
        /// Distribution: ubuntu, debian, alpine, ubi …
        os: Fact<String>,
        /// Its version.
        os_version: Fact<Version>,
        /// glibc of the distribution.
        glibc: Fact<Version>,
        /// Python of the image.
        python: Fact<Version>,
        /// Whether pip refuses to install into this Python (PEP 668).
        externally_managed: Fact<bool>,
        /// Whether nvcc is there.
        nvcc: Fact<bool>,
        /// Whether a C compiler is there.
        compiler: Fact<bool>,
        /// Whether the headers of Python are there.
        python_headers: Fact<bool>,
        /// Driver that NVIDIA states for the image without forward compatibility.
        min_driver: Fact<Version>,
        /// Whether the image brings NVIDIA's forward-compatibility libraries, which replace an older driver's on data-center GPUs.
        forward_compat: Fact<bool>,
        /// Lowest compute capability that its GPU code runs on.
        min_compute_capability: Fact<Version>,
        /// CPU architecture: amd64, arm64.
        arch: Fact<String>,
        /// Packages by normalised name; the last install wins.
        packages: BTreeMap<String, Package>,
        /// Environment variables set by the image's build.
        env: Labels,
    }

    /// A package that an image, a file or a script installs.
    Package {
        /// Normalised name, torch.
        name: Fact<String>,
        /// What it is installed by.
        manager: Fact<PackageManager>,
        /// The version that will be there: pinned, or inferred as the package manager would resolve it.
        version: Fact<Version>,
        /// Whether the version is pinned exactly.
        pinned: Fact<bool>,
        /// Version specifier as written.
        specifier: Fact<String>,
        /// Extras, comma separated and sorted.
        extras: Fact<String>,
        /// Build variant: cu118, cpu, rocm6.2; from the local version, the index or the default build.
        variant: Fact<String>,
        /// CUDA that this build was made with.
        cuda: Fact<Version>,
        /// Compute capabilities with machine code in this build, space separated, 75 80 86.
        sm: Fact<String>,
        /// Compute capabilities with PTX in this build, space separated.
        ptx: Fact<String>,
        /// Lowest compute capability of this build.
        min_compute_capability: Fact<Version>,
        /// Lowest driver for this build.
        min_driver: Fact<Version>,
        /// Index it is installed from, when one is named.
        index_url: Fact<String>,
        /// Extra indexes and find-links pages, space separated.
        extra_indexes: Fact<String>,
        /// Channels of conda that it is looked for in as stated, space separated; `nodefaults` where no others are asked.
        channels: Fact<String>,
        /// URL or file name of a direct reference.
        url: Fact<String>,
        /// Options of the install command, space separated: --no-build-isolation --no-deps; its place is that of all words of the command.
        options: Fact<String>,
        /// The condition under which it is installed (PEP 508), `python_version < "3.10"`.
        marker: Fact<String>,
        /// The extra or group that installs it; absent when it is always installed.
        group: Fact<String>,
        /// Options behind it on its line of a requirements file, of which pip heeds --hash, --config-settings and --global-option.
        line_options: Fact<String>,
        /// A comparison without quotes that the shell takes for a redirection: >=2.0.
        unquoted: Fact<String>,
    }

    /// A file that lists Python packages: requirements.txt, pyproject.toml, environment.yml, a lock file; also the tasks of an Ansible file.
    PackageFile {
        /// Path as displayed.
        path: Fact<String>,
        /// What it is.
        kind: Fact<PackageFileKind>,
        /// The name of the environment that a file of conda makes.
        name: Fact<String>,
        /// Its packages in order.
        packages: Vec<Package>,
        /// Index named in the file.
        index_url: Fact<String>,
        /// Extra indexes and find-links pages named in the file.
        extra_indexes: Vec<Fact<String>>,
        /// Files it includes (`-r`), as written.
        includes: Vec<Fact<String>>,
        /// Files that hold versions back (`-c`), as written.
        constraints: Vec<Fact<String>>,
        /// The extra or group that these packages are installed with.
        group: Fact<String>,
        /// Packages that are installed in the releases stated here, whatever others require of them.
        overrides: Vec<Fact<String>>,
        /// requires-python, the python pin of a conda environment, or the Python of the stage of a Dockerfile.
        python: Fact<String>,
        /// Packages of the distribution that are kept at the version which is there, by their names; `*` stands for any part of one.
        held: Vec<Fact<String>>,
        /// Driver of the cluster that the files around an environment of conda describe.
        #[joined = true]
        driver: Fact<Version>,
    }

    /// A stage of a Dockerfile.
    Build {
        /// Path of the Dockerfile as displayed.
        path: Fact<String>,
        /// Name of the stage (`AS name`).
        stage: Fact<String>,
        /// Whether it is the last stage, the one that is run.
        final_stage: Fact<bool>,
        /// The image it starts from; for a stage on a stage, the image at the bottom.
        base: Image,
        /// What FROM states, with build arguments as written; for a stage on a stage, that of the stage at the bottom.
        from: Fact<String>,
        /// Packages installed by RUN, in order, stages underneath first; files given by `-r` are in `package_files`.
        packages: Vec<Package>,
        /// What holds the Python that RUN installs into.
        python: Fact<PythonHome>,
        /// Requirement files installed, as written.
        package_files: Vec<Fact<String>>,
        /// Constraint files of its install commands, as written.
        constraints: Vec<Fact<String>>,
        /// Extras and groups of the project that its install commands ask for.
        groups: Vec<Fact<String>>,
        /// Files that it copies in, as written.
        copies: Vec<Fact<String>>,
        /// Environment after the last instruction.
        env: Labels,
        /// Build arguments with their defaults, or with what they are given where services build it with arguments of theirs.
        args: Labels,
        /// The services that build it with these arguments; none for what the Dockerfile says by itself.
        built_for: Vec<Fact<String>>,
        /// The instructions of this stage.
        instructions: Vec<Instruction>,
        /// What it starts whoever runs it: CMD and ENTRYPOINT, else those of the image that it starts from.
        launch: Option<Box<Launch>>,
        /// Whether it, or a stage underneath, states an ENTRYPOINT; else that of the image that it starts from takes its arguments.
        entrypoint: Fact<bool>,
        /// Driver of the cluster that the files around it describe.
        #[joined = true]
        driver: Fact<Version>,
        /// The tool that writes its Dockerfile, where none is at hand: cog, bentoml, truss.
        tool: Fact<String>,
        /// CUDA of the base that the tool chooses, as it is told.
        cuda: Fact<Version>,
        /// Python that the tool brings, as it is told.
        python_release: Fact<Version>,
        /// The build variant of the frameworks that the tool installs; absent where it leaves that to pip.
        variant: Fact<String>,
        /// What is in the finished stage.
        #[joined = true]
        software: Option<Arc<Software>>,
    }

    /// An instruction of a Dockerfile; for RUN, one command of the shell line.
    Instruction {
        /// RUN, ENV, COPY …
        keyword: Fact<String>,
        /// The program that a command of RUN starts, without its directory and what runs it: pip of `sudo pip3`, `python3 -m pip`.
        program: Fact<String>,
        /// The words of that command, program first.
        words: Vec<Fact<String>>,
        /// Its text with continuations joined.
        text: Fact<String>,
        /// Variables that a command of RUN is given on its line, `NAME=value` separated by spaces.
        assignments: Fact<String>,
    }
}
