#!/usr/bin/env python3
"""Hostile repositories: each is made in a temporary folder and linted under limits. Written by somebody who had not read the code.

usage: hostile.py GPULINT [--keep] [--slow] [ID-PREFIX ...]

Classes: hiding, disclosure, injection, crash, memory, hang, write.
 hiding     two directories: the control (same fault, plain) must give the finding; the hidden form, which the real tool takes, must
            give that finding, or a finding of severity error that says the file was not linted (file-not-linted, syntax-error,
            template-error, kustomization-error, internal-error); exit 1. The summary alone is not enough. Run with `check --isolated`.
 growth     (crash, memory, hang) n and 2n: no signal, exit 0/1/2; up to 1.1 MiB of input: CPU < 10 s, peak RSS < 300 MB; not quadratic:
            CPU(2n)/CPU(n) <= 2.8 where CPU(2n) > 0.6 s.
 injection  no line begins (after blanks) with `::`, none holds `##[` or `##vso[`; no Cc/Cf/Zl/Zp character but line ends.
 disclosure nothing of a file outside is in any output.  write: nothing outside is changed.
Limits: one process at a time, 60 s, 2 GiB of address space. Last line: `N of M held`. Python 3.9+, nothing else.
--slow runs every growth case; without it those that held with more than about 4 s of CPU are left out.
"""
import base64, gzip, io, json, os, re, resource, shutil, subprocess, sys, tarfile, tempfile, threading, unicodedata
if len(sys.argv) < 2: sys.exit(__doc__)
BIN=os.path.abspath(sys.argv[1]); OUT=tempfile.mkdtemp(prefix='repro-'); SECRET='CANARYSECRET7'
# growth, memory and crash reproducers: each is (id, title, class, maker(n) -> files, n, args)
GROW=[]
def g(id,title,cls,mk,n,args=('check','--format','json'),links=None): GROW.append((id,title,cls,mk,n,args,links or {}))
BAD='''apiVersion: v1
kind: Pod
metadata: {name: bad}
spec:
  containers:
  - name: c
    image: nvidia/cuda:12.4.1-base-ubuntu22.04
    resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 1}}
'''
GPU=BAD.replace('requests: {nvidia.com/gpu: 2}, ','')
CH={'c/Chart.yaml':'apiVersion: v2\nname: c\nversion: 1.0.0\n','c/values.yaml':'{}\n'}
CM='apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {b: b}\n'
def TPL(t,**f): return {**CH,'c/templates/a.yaml':t,**f}
# ---- Helm template functions: memory and time
g('G01-tmpl-quote-doubling','`quote` of its own output: backslashes double each turn','memory',lambda n:TPL('{{ $s := "\\"" }}{{ range until %d }}{{ $s = quote $s }}{{ end }}x: {{ len $s }}\n'%n),60)
g('G02-tmpl-tojson-doubling','`toJson` of its own output','memory',lambda n:TPL('{{ $s := "\\"" }}{{ range until %d }}{{ $s = toJson $s }}{{ end }}x: {{ len $s }}\n'%n),60)
g('G03-tmpl-printf-q','`printf "%q%q"` of its own output','memory',lambda n:TPL('{{ $s := "a" }}{{ range until %d }}{{ $s = printf "%%q%%q" $s $s }}{{ end }}x: {{ len $s }}\n'%n),60)
g('G04-tmpl-regexreplace-empty','`regexReplaceAll "" big big`: output is n*n','memory',lambda n:TPL('{{ $b := repeat %d "a" }}x: {{ regexReplaceAll "" $b $b | len }}\n'%n),40000)
g('G05-tmpl-replace-empty','`replace "" big big`: output is n*n','memory',lambda n:TPL('{{ $b := repeat %d "a" }}x: {{ replace "" $b $b | len }}\n'%n),40000)
g('G06-tmpl-replace-squaring','`replace "a" $s $s` squares its length each turn','memory',lambda n:TPL('{{ $s := "aa" }}{{ range until %d }}{{ $s = replace "a" $s $s }}{{ end }}x: {{ len $s }}\n'%n),10)
g('G07-tmpl-concat-doubling','`concat $l $l` 60 times','memory',lambda n:TPL('{{ $l := list "x" }}{{ range until %d }}{{ $l = concat $l $l }}{{ end }}x: {{ len $l }}\n'%n),60)
g('G08-tmpl-list-dag-toyaml','`list $l $l` 60 times, then fromYaml (toYaml)','memory',lambda n:TPL('{{ $l := list "x" }}{{ range until %d }}{{ $l = list $l $l }}{{ end }}x: {{ toYaml $l | fromYamlArray | len }}\n'%n),60)
g('G09-tmpl-dag-eq','`deepEqual` of two doubled dicts','hang',lambda n:TPL('{{ $a := dict "x" 1 }}{{ $b := dict "x" 1 }}{{ range until %d }}{{ $a = dict "x" $a "y" $a }}{{ $b = dict "x" $b "y" $b }}{{ end }}x: {{ deepEqual $a $b }}\n'%n),60)
g('G10-tmpl-dag-uniq-has','`uniq`/`has`/`without` on a list of doubled dicts','hang',lambda n:TPL('{{ $a := dict "x" 1 }}{{ $b := dict "x" 1 }}{{ range until %d }}{{ $a = dict "x" $a "y" $a }}{{ $b = dict "x" $b "y" $b }}{{ end }}x: {{ uniq (list $a $b) | len }}{{ has $a (list $b) }}{{ without (list $a) $b | len }}\n'%n),60)
g('G11-tmpl-uniq-quadratic','`uniq` of n different texts','hang',lambda n:TPL('x: {{ until %d | toStrings | uniq | len }}\n'%n),40000)
g('G12-tmpl-without-quadratic','`without` of n values from n','hang',lambda n:TPL('{{ $l := until %d }}{{ $o := list }}{{ range $l }}{{ $o = without $l . }}{{ end }}x: {{ len $o }}\n'%n),4000)
g('G13-tmpl-append-quadratic','`append`/`prepend` n times','hang',lambda n:TPL('{{ $l := list }}{{ range until %d }}{{ $l = prepend $l . }}{{ $l = append $l . }}{{ end }}x: {{ len $l }}\n'%n),8000)
g('G14-tmpl-scrypt','`derivePassword` (scrypt) in a loop','hang',lambda n:TPL('{{ range until %d }}{{ $x := derivePassword 1 "long" "p" (toString .) "s" }}{{ end }}x: 1\n'%n),2000)
g('G15-tmpl-bcrypt','`htpasswd` and `bcrypt` in a loop','hang',lambda n:TPL('{{ range until %d }}{{ $x := htpasswd "a" "b" }}{{ $y := bcrypt "x" }}{{ end }}x: 1\n'%n),2000)
g('G16-tmpl-genca','`genCA` in a loop','hang',lambda n:TPL('{{ range until %d }}{{ $x := genCA "a" 1 }}{{ end }}x: 1\n'%n),500)
g('G17-tmpl-tpl-big','`tpl` of a 1 MB text in a loop (parsed each turn)','hang',lambda n:TPL('{{ $b := repeat 100000 "{{ 1 }}" }}{{ range until %d }}{{ $x := tpl $b $ }}{{ end }}x: 1\n'%n),2000)
g('G18-tmpl-fromjson-loop','`fromYaml` of a 1 MB text in a loop','hang',lambda n:TPL('{{ $b := repeat 100000 "a: [1]\\n" }}{{ range until %d }}{{ $x := fromYaml $b }}{{ end }}x: 1\n'%n),1000)
g('G19-tmpl-fromyaml-bomb','alias bomb given to `fromYaml`','memory',lambda n:TPL('x: {{ fromYaml (.Files.Get "b.txt") | toJson | len }}\n',**{'c/b.txt':'a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n'+''.join('a%d: &a%d [%s]\n'%(i,i,','.join(['*a%d'%(i-1)]*10)) for i in range(1,n))}),9)
g('G20-tmpl-regex-loop','n different large regexes compiled in a loop','hang',lambda n:TPL('{{ range until %d }}{{ $x := regexMatch (printf "(((a{90}){90}){9}|.*)%%d" .) "b" }}{{ end }}x: 1\n'%n),2000)
g('G21-tmpl-semver','`semverCompare` with a constraint of n clauses','hang',lambda n:TPL('x: {{ semverCompare (repeat %d ">=1.0.0 || ") "1.2.3" }}\n'%n),20000)
g('G22-tmpl-wrap','`wrap 1` / `wrapWith` of one word of n letters','hang',lambda n:TPL('{{ $b := repeat %d "a" }}x: {{ wrapWith 1 "\\n" $b | len }} {{ wrap 1 $b | len }} {{ initials $b }}\n'%n),400000)
g('G23-tmpl-else-if-chain','n `else if` in a row','crash',lambda n:TPL('{{ if false }}'+'{{ else if false }}'*n+'{{ end }}\nx: 1\n'),30000)
g('G24-tmpl-pipe-chain','pipeline of n functions','crash',lambda n:TPL('x: {{ "a"'+' | trim'*n+' }}\n'),100000)
g('G25-tmpl-field-chain','field chain of n parts','crash',lambda n:TPL('x: {{ .Values'+'.a'*n+' }}\n'),200000)
g('G26-tmpl-tpl-parens','`tpl` of a text of n open brackets made at run time','crash',lambda n:TPL('x: {{ tpl (printf "{{ %%s 1 %%s }}" (repeat %d "(") (repeat %d ")")) . }}\n'%(n,n)),100000)
g('G27-tmpl-tpl-ifs','`tpl` of n nested ifs made at run time','crash',lambda n:TPL('x: {{ tpl (print (repeat %d "{{ if true }}") (repeat %d "{{ end }}")) . }}\n'%(n,n)),100000)
g('G28-tmpl-list-deep-drop','list nested n deep, then dropped, compared, printed','crash',lambda n:TPL('{{ $a := list 1 }}{{ $b := list 1 }}{{ range until %d }}{{ $a = list $a }}{{ $b = list $b }}{{ end }}x: {{ eq (toString $a) (toString $b) }}{{ deepEqual $a $b }}{{ has $a (list $b) }}\n'%n),300000)
g('G29-tmpl-include-chain','n templates, each includes the next','crash',lambda n:TPL(''.join('{{ define "t%d" }}{{ include "t%d" . }}{{ end }}'%(i,i+1) for i in range(n))+'{{ define "t%d" }}x{{ end }}x: {{ include "t0" . }}\n'%n),8000)
g('G30-tmpl-include-tree','each template includes the next twice (2^n)','hang',lambda n:TPL(''.join('{{ define "t%d" }}{{ include "t%d" . }}{{ include "t%d" . }}{{ end }}'%(i,i+1,i+1) for i in range(n))+'{{ define "t%d" }}x{{ end }}x: {{ include "t0" . | len }}\n'%n),60)
g('G31-tmpl-many-files-glob','`.Files.Glob` in a loop over many files','hang',lambda n:{**TPL('{{ range until 4000 }}{{ $x := $.Files.Glob "**/*" }}{{ end }}x: 1\n'),**{'c/f/%d.txt'%i:'x' for i in range(n)}},2000)
g('G32-values-many-files','64 sets of values x one template of 400 KB','hang',lambda n:{**CH,**{'c/values-%02d.yaml'%i:'a: %d\n'%i for i in range(60)},'c/templates/a.yaml':'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n'+''.join('  k%d: "{{ $.Values.a }}"\n'%i for i in range(n))},8000)
g('G33-argo-apps-x-chart','n Argo applications of one chart with a large template','hang',lambda n:{**CH,'c/templates/a.yaml':'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n'+''.join('  k%d: "{{ $.Values.a }}"\n'%i for i in range(8000)),'apps.yaml':'---\n'.join('apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a%d}\nspec: {source: {repoURL: x, path: c, helm: {parameters: [{name: a, value: "%d"}]}}}\n'%(i,i) for i in range(n))},400)
g('G34-helm-set-index','Argo parameter `a[65000][65000]…`: lists padded with null','memory',lambda n:{**CH,'c/templates/a.yaml':GPU,'app.yaml':'apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec:\n  source:\n    repoURL: x\n    path: c\n    helm:\n      parameters:\n'+''.join('      - {name: "a%d[65000]", value: "1"}\n'%i for i in range(n))},4000)
g('G35-helm-subchart-values','large values x n subcharts (global copied to each)','memory',lambda n:{**CH,'c/values.yaml':'global:\n'+''.join('  k%d: {a: [1,2,3]}\n'%i for i in range(15000)),'c/templates/a.yaml':GPU,**{'c/charts/s%d/Chart.yaml'%i:'apiVersion: v2\nname: s%d\nversion: 1.0.0\n'%i for i in range(n)}},200)
g('G36-schema-pattern','values.schema.json: n patterns of large regexes','hang',lambda n:{**CH,'c/values.yaml':'a: x\n','c/values.schema.json':'{"properties":{"a":{"anyOf":['+','.join('{"pattern":"(((a{50}){50}){9}|.*)%d"}'%i for i in range(n))+']}}}','c/templates/a.yaml':GPU},1000)
g('G37-schema-uniqueitems','values.schema.json: uniqueItems over n items','hang',lambda n:{**CH,'c/values.yaml':'a: ['+','.join('{a: %d}'%i for i in range(n))+']\n','c/values.schema.json':'{"properties":{"a":{"uniqueItems":true}}}','c/templates/a.yaml':GPU},15000)
g('G38-helmignore-stars','.helmignore of many `*a*a*a*…b` patterns x long names','hang',lambda n:{**CH,'c/.helmignore':('*a'*60+'b\n')*n,'c/templates/'+'a'*200+'.yaml':GPU,**{'c/f/'+'a'*100+'%d'%i:'x' for i in range(50)}},400)
# ---- Kustomize
g('G40-kust-bases-chain','n kustomizations, each a base of the next','crash',lambda n:{**{'b%d/kustomization.yaml'%i:'resources: [../b%d]\nnamePrefix: a\n'%(i+1) for i in range(n)},'b%d/kustomization.yaml'%n:'resources: [r.yaml]\n','b%d/r.yaml'%n:CM},1500)
g('G41-kust-overlays-x-base','n overlays of one base of 300 KB','memory',lambda n:{'b/kustomization.yaml':'resources: [r.yaml]\n','b/r.yaml':'---\n'.join(CM.replace('name: x','name: x%d'%i) for i in range(3500)),**{'o%d/kustomization.yaml'%i:'resources: [../b]\nnamePrefix: p%d-\n'%i for i in range(n)}},150)
g('G42-kust-components-x','n components applied to m resources','hang',lambda n:{'k/kustomization.yaml':'resources: [r.yaml]\ncomponents: ['+','.join('../c%d'%i for i in range(n))+']\n','k/r.yaml':'---\n'.join(CM.replace('name: x','name: x%d'%i) for i in range(n)),**{'c%d/kustomization.yaml'%i:'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonLabels: {l%d: x}\n'%i for i in range(n)}},400)
g('G43-kust-generator-refs','n generated ConfigMaps x n references to rename','hang',lambda n:{'k/kustomization.yaml':'resources: [r.yaml]\nconfigMapGenerator:\n'+''.join('- {name: c%d, literals: [a=b]}\n'%i for i in range(n)),'k/r.yaml':'---\n'.join('apiVersion: v1\nkind: Pod\nmetadata: {name: p%d}\nspec: {containers: [{name: c, image: x, envFrom: [{configMapRef: {name: c%d}}]}]}\n'%(i,i) for i in range(n))},2500)
g('G44-kust-names-collide','n resources with a namePrefix and n references','hang',lambda n:{'k/kustomization.yaml':'resources: [r.yaml]\nnamePrefix: z-\nnamespace: q\n','k/r.yaml':'---\n'.join(CM.replace('name: x','name: c%d'%i)+'---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%d}\nspec: {containers: [{name: c, image: x, envFrom: [{configMapRef: {name: c%d}}]}]}\n'%(i,i) for i in range(n))},2500)
g('G45-kust-replacements-product','n replacements whose targets are all n resources','hang',lambda n:{'k/kustomization.yaml':'resources: [r.yaml]\nreplacements:\n'+''.join('- source: {kind: ConfigMap, name: x%d, fieldPath: data.b}\n  targets:\n  - select: {kind: ConfigMap}\n    options: {create: true}\n    fieldPaths: [data.k%d]\n'%(i,i) for i in range(n)),'k/r.yaml':'---\n'.join(CM.replace('name: x','name: x%d'%i) for i in range(n))},700)
g('G46-kust-replacement-delimiter','replacement with delimiter and index 999999999','memory',lambda n:{'k/kustomization.yaml':'resources: [r.yaml]\nreplacements:\n'+'- source: {kind: ConfigMap, fieldPath: data.b}\n  targets:\n  - select: {kind: ConfigMap}\n    options: {delimiter: "/", index: 999999999}\n    fieldPaths: [data.b]\n'*n,'k/r.yaml':CM},10)
g('G47-kust-replacement-growth','replacement into itself with a delimiter: doubles each time','memory',lambda n:{'k/kustomization.yaml':'resources: [r.yaml]\nreplacements:\n'+'- source: {kind: ConfigMap, fieldPath: data.b}\n  targets:\n  - select: {kind: ConfigMap}\n    options: {delimiter: "b", index: 0}\n    fieldPaths: [data.b]\n'*n,'k/r.yaml':CM.replace('b: b','b: bbbb')},60)
g('G48-kust-json6902-index','JSON patch at index 99999999999 and `-` 40,000 times','hang',lambda n:{'k/kustomization.yaml':'resources: [r.yaml]\npatches:\n- target: {kind: ConfigMap}\n  path: p.yaml\n','k/p.yaml':'- {op: add, path: /l, value: []}\n'+'- {op: add, path: /l/0, value: 1}\n'*n,'k/r.yaml':CM},12000)
g('G49-kust-json6902-test','JSON patch `test` of the whole document n times','hang',lambda n:{'k/kustomization.yaml':'resources: [r.yaml]\npatches:\n- target: {kind: ConfigMap}\n  path: p.yaml\n','k/p.yaml':'- {op: copy, from: /data, path: /e}\n- {op: test, path: /data, value: {b: b}}\n'*n,'k/r.yaml':'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n'+''.join('  k%d: v\n'%i for i in range(n*3))},3000)
g('G50-kust-labelselector','labelSelector of n clauses x n resources','hang',lambda n:{'k/kustomization.yaml':'resources: [r.yaml]\npatches:\n- target: {labelSelector: "%s"}\n  patch: "- {op: add, path: /x, value: 1}"\n'%','.join('a%d!=b'%i for i in range(n)),'k/r.yaml':'---\n'.join(CM.replace('name: x','name: x%d'%i) for i in range(n))},4000)
g('G51-kust-images-product','n images: entries x n containers','hang',lambda n:{'k/kustomization.yaml':'resources: [r.yaml]\nimages:\n'+''.join('- {name: i%d, newTag: "1"}\n'%i for i in range(n)),'k/r.yaml':'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n'+''.join('  - {name: c%d, image: i%d}\n'%(i,i) for i in range(n))},6000)
# ---- joins between Kubernetes objects
dep=lambda i,app='d%d',extra='': 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d%d}\nspec:\n  selector: {matchLabels: {app: %s}}\n  template:\n    metadata: {labels: {app: %s}}\n    spec: {containers: [{name: c, image: vllm/vllm-openai:v0.6.0, %sresources: {limits: {nvidia.com/gpu: 1}}}]}\n'%(i,app%i if '%' in app else app,app%i if '%' in app else app,extra)
svc=lambda i,app='x':'---\napiVersion: v1\nkind: Service\nmetadata: {name: s%d}\nspec: {type: LoadBalancer, selector: {app: %s}, ports: [{port: 80}]}\n'%(i,app)
g('G60-join-all-services','n services that all select all n deployments','hang',lambda n:{'a.yaml':'---\n'.join(dep(i,'x')+svc(i) for i in range(n))},1000)
g('G61-join-hpas-one-target','n HPAs for one deployment and n deployments of one name','hang',lambda n:{'a.yaml':'---\n'.join(dep(0,'x')+'---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h%d}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d0}, maxReplicas: 3, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]}\n'%i for i in range(n))},1000)
g('G62-join-pdbs-all','n PDBs with a matchExpressions selector of all pods','hang',lambda n:{'a.yaml':'---\n'.join(dep(i,'x')+'---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: s%d}\nspec: {selector: {matchExpressions: [{key: app, operator: In, values: [x]}]}, minAvailable: 1}\n'%i for i in range(n))},1000)
g('G63-join-networkpolicies','n NetworkPolicies over n training groups','hang',lambda n:{'a.yaml':'---\n'.join('apiVersion: batch/v1\nkind: Job\nmetadata: {name: j%d}\nspec: {parallelism: 4, completions: 4, completionMode: Indexed, template: {metadata: {labels: {app: x}}, spec: {restartPolicy: Never, containers: [{name: c, image: x, command: [torchrun, --nnodes=4, t.py], resources: {limits: {nvidia.com/gpu: 8}}}]}}}\n---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: n%d}\nspec: {podSelector: {matchLabels: {app: x}}, policyTypes: [Ingress], ingress: []}\n'%(i,i) for i in range(n))},1000)
g('G64-join-pools-x-pods','n Karpenter NodePools x n pods with selectors and tolerations','hang',lambda n:{'a.yaml':'---\n'.join('apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p%d}\nspec: {template: {metadata: {labels: {a: b}}, spec: {taints: [{key: nvidia.com/gpu, effect: NoSchedule}], requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge, g5.xlarge]}]}}}\n---\n'%i+GPU.replace('name: bad','name: q%d'%i).replace('spec:','spec:\n  nodeSelector: {a: b}',1) for i in range(n))},800)
g('G65-join-queues','n LocalQueues, n ClusterQueues, n Jobs of one name','hang',lambda n:{'a.yaml':'---\n'.join('apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: q}\nspec: {cohort: c, resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 1}]}]}]}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: l}\nspec: {clusterQueue: q}\n---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j%d, labels: {kueue.x-k8s.io/queue-name: l}}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n'%i for i in range(n))},800)
g('G66-join-claims','one pod with n resourceClaims and n containers that use all','hang',lambda n:{'a.yaml':'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  resourceClaims:\n'+''.join('  - {name: r%d, resourceClaimTemplateName: t%d}\n'%(i,i) for i in range(n))+'  containers:\n'+''.join('  - {name: c%d, image: x, resources: {claims: [{name: z%d}]}}\n'%(i,i) for i in range(n))},3000)
g('G67-join-envfrom-configmap','one ConfigMap of 200 KB x n containers with envFrom','memory',lambda n:{'a.yaml':'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n'+''.join('  KEY%d: "%d"\n'%(i,i) for i in range(12000))+''.join('---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%d}\nspec: {containers: [{name: c, image: x, envFrom: [{configMapRef: {name: m}}]}]}\n'%i for i in range(n))},1500)
g('G68-k8s-env-doubling','env of one container: `$(A0)$(A0)` 60 times','memory',lambda n:{'a.yaml':GPU+'    command: [vllm, serve, "$(A%d)"]\n    env:\n    - {name: A0, value: aaaaaaaaaa}\n'%(n-1)+''.join('    - {name: A%d, value: "$(A%d)$(A%d)"}\n'%(i,i-1,i-1) for i in range(1,n))},60)
g('G69-k8s-env-use','one env value of 100 KB used 20,000 times in args','memory',lambda n:{'a.yaml':GPU+'    command: [vllm, serve]\n    args: ["'+'$(A)'*n+'"]\n    env: [{name: A, value: "'+'x'*100000+'"}]\n'},20000)
g('G70-ingress-routes','n Ingresses x n services x n deployments','hang',lambda n:{'a.yaml':'---\n'.join(dep(i,'x')+svc(i)+'---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i%d}\nspec: {rules: [{http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: s0, port: {number: 80}}}}]}}]}\n'%i for i in range(n))},700)
g('G71-pods-namespaces-pv','n PVCs, n StorageClasses, n pods that mount all','hang',lambda n:{'a.yaml':'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  volumes:\n'+''.join('  - {name: v%d, persistentVolumeClaim: {claimName: c%d}}\n'%(i,i) for i in range(n))+'  containers:\n'+''.join('  - {name: c%d, image: x, volumeMounts: [{name: v%d, mountPath: /m%d}]}\n'%(i,n-1-i,i) for i in range(n))},4000)
g('G72-containers-in-pod','one pod of n GPU containers on one node','hang',lambda n:{'a.yaml':'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n'+''.join('  - {name: c%d, image: vllm/vllm-openai:v0.6.0, args: [--model, m], resources: {limits: {nvidia.com/gpu: 1}}}\n'%i for i in range(n))},4000)
g('G73-tolerations-taints','pod with n tolerations, pool with n taints','hang',lambda n:{'a.yaml':'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {template: {spec: {taints: ['+','.join('{key: k%d, effect: NoSchedule}'%i for i in range(n))+'], requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}]}}}\n---\n'+GPU.replace('spec:','spec:\n  tolerations: ['+','.join('{key: k%d, operator: Exists}'%i for i in range(n))+']',1)},8000)
g('G74-requirements-karpenter','NodePool with n requirement values x pod affinity of n terms','hang',lambda n:{'a.yaml':'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {template: {spec: {requirements: [{key: zz, operator: In, values: ['+','.join('v%d'%i for i in range(n))+']}, {key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}]}}}\n---\n'+GPU.replace('spec:','spec:\n  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ['+','.join('{matchExpressions: [{key: zz, operator: In, values: [w%d]}]}'%i for i in range(n))+']}}}',1)},6000)
# ---- YAML
g('G80-yaml-alias-scalar','scalar of 200 KB aliased n times (bytes, not nodes)','memory',lambda n:{'a.yaml':'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nx: &a "'+'x'*200000+'"\nspec:\n  containers:\n'+''.join('  - {name: c%d, image: *a, command: [*a]}\n'%i for i in range(n))},5000)
g('G81-yaml-merge-product','merge key of a map of 10,000 keys in n maps','memory',lambda n:{'a.yaml':'x: &a {'+','.join('k%d: 1'%i for i in range(10000))+'}\ny:\n'+'- {<<: *a}\n'*n},2000)
g('G82-yaml-merge-chain','chain of n maps, each merges the last','hang',lambda n:{'a.yaml':'a0: &a0 {k: 1}\n'+''.join('a%d: &a%d {<<: *a%d, k%d: 1}\n'%(i,i,i-1,i) for i in range(1,n))},4000)
g('G83-yaml-merge-list','`<<: [*a × n]`','hang',lambda n:{'a.yaml':'a: &a {'+','.join('k%d: 1'%i for i in range(2000))+'}\nb: {<<: ['+','.join(['*a']*n)+']}\n'},5000)
g('G84-yaml-list-aliases','List whose items are n aliases of one Deployment','hang',lambda n:{'a.yaml':'apiVersion: v1\nkind: List\nitems:\n- &a\n'+''.join('  '+l+'\n' for l in dep(0).splitlines())+'- *a\n'*n},20000)
g('G85-yaml-suppress-comments','n suppression comments x n findings','hang',lambda n:{'a.yaml':'---\n'.join('# gpulint: ignore[no-such-rule-%d] reason="x"\n'%i+BAD.replace('name: bad','name: b%d'%i) for i in range(n))},2500)
g('G86-suppress-one-line','one suppression comment that lists n rules','hang',lambda n:{'a.yaml':'# gpulint: ignore-file['+','.join('rule-name-%d'%i for i in range(n))+']\n'+BAD},30000)
g('G87-annotations-ignore','gpulint.dev/ignore annotation that lists n rules','hang',lambda n:{'a.yaml':BAD.replace('{name: bad}','{name: bad, annotations: {gpulint.dev/ignore: "'+','.join('rule-name-%d'%i for i in range(n))+'"}}')},30000)
# ---- long single values (edit distances, versions, references)
LONG=lambda n:'a1.'*(n//3)
for nm,f in {'resource':lambda n:{'a.yaml':BAD.replace('nvidia.com/gpu: 1','nvidia.com/gp'+'u'*n+': 1')},
 'image':lambda n:{'a.yaml':GPU.replace('nvidia/cuda:12.4.1-base-ubuntu22.04','nvidia/cuda:'+LONG(n))},
 'vllm-tag':lambda n:{'a.yaml':GPU.replace('nvidia/cuda:12.4.1-base-ubuntu22.04','vllm/vllm-openai:v'+'1.'*(n//2)+'0')},
 'product-label':lambda n:{'a.yaml':GPU.replace('spec:','spec:\n  nodeSelector: {nvidia.com/gpu.product: NVIDIA-'+'A'*n+'}',1)},
 'gke-label':lambda n:{'a.yaml':GPU.replace('spec:','spec:\n  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-'+'a'*n+'}',1)},
 'toleration':lambda n:{'a.yaml':GPU.replace('spec:','spec:\n  tolerations: [{key: nvidia.com/gp'+'u'*n+', operator: Exists}]',1)},
 'instance-type':lambda n:{'main.tf':'resource "aws_instance" "x" {\n  instance_type = "p5.'+'x'*n+'"\n}\n'},
 'command':lambda n:{'a.yaml':GPU+'    command: [sh, -c, "vllm serve m '+'--max-model-len 1 '*(n//18)+'"]\n'},
 'model':lambda n:{'a.yaml':GPU+'    command: [vllm, serve, "'+'llama-3-'*(n//8)+'"]\n'},
 'flag':lambda n:{'a.yaml':GPU.replace('nvidia/cuda:12.4.1-base-ubuntu22.04','vllm/vllm-openai:v0.6.0')+'    args: [--tensor-paralel-siz'+'e'*n+', "2"]\n'},
 'specifier':lambda n:{'requirements.txt':'torch'+','.join('>=1.%d'%i for i in range(n//8))+'\n'},
 'marker':lambda n:{'requirements.txt':'torch==2.0;'+'('*n+'python_version>"2"'+')'*n+'\n'},
 'req-name':lambda n:{'requirements.txt':'torc'+'h'*n+'==1\n'},
 'local-ver':lambda n:{'requirements.txt':'torch==1.13.1+cu'+'1'*n+'\n'},
 'quantity':lambda n:{'a.yaml':BAD.replace('gpu: 2','gpu: "'+'9'*n+'"')},
 'cudaver':lambda n:{'Dockerfile':'FROM nvidia/cuda:'+'1'*n+'.4.1-base-ubuntu22.04\nENV TORCH_CUDA_ARCH_LIST="'+'8.0;'*(n//4)+'"\nRUN pip install torch=='+'1.'*(n//2)+'0\n'},
 'nccl-env':lambda n:{'a.yaml':GPU+'    env: [{name: NCCL_SOCKET_IFNAME, value: "'+'eth0,'*(n//5)+'"}, {name: CUDA_VISIBLE_DEVICES, value: "'+'0,'*(n//2)+'"}]\n'},
 'cron':lambda n:{'a.yaml':'apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: x}\nspec: {schedule: "'+'0,'*(n//2)+'0 * * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}}}\n'},
 'mig':lambda n:{'a.yaml':GPU.replace('nvidia.com/gpu: 1','nvidia.com/mig-1g.'+'5'*n+'gb: 1')},
 'promql':lambda n:{'a.yaml':'apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: s}\nspec: {scaleTargetRef: {name: d0}, triggers: [{type: prometheus, metadata: {query: "'+'sum(rate(vllm:num_requests_waiting[1m])) + '*(n//43)+'1", threshold: "5"}}]}\n---\n'+dep(0)},
 }.items(): g('L-'+nm,'one value of %s made very long'%nm,'hang',f,300000)
# ---- Compose
g('G90-compose-extends-chain','n services, each extends the next','crash',lambda n:{'compose.yaml':'services:\n'+''.join('  s%d: {extends: s%d, command: [a%d]}\n'%(i,i+1,i) for i in range(n))+'  s%d: {image: x}\n'%n},12000)
g('G91-compose-env-doubling','.env: `A1=${A0}${A0}` 60 times','memory',lambda n:{'compose.yaml':'services:\n  s: {image: "x:${A%d}"}\n'%(n-1),'.env':'A0=aaaaaaaaaa\n'+''.join('A%d=${A%d}${A%d}\n'%(i,i-1,i-1) for i in range(1,n))},60)
g('G92-compose-default-nesting','`${A:-${A:-…}}` n deep','crash',lambda n:{'compose.yaml':'services:\n  s: {image: "'+'${A:-'*n+'x'+'}'*n+'"}\n'},100000)
g('G93-compose-include-chain','n Compose files, each includes the next','crash',lambda n:{'compose.yaml':'include: [c0.yaml]\n',**{'c%d.yaml'%i:'include: [c%d.yaml]\nservices: {s%d: {image: x}}\n'%(i+1,i) for i in range(n)},'c%d.yaml'%n:'services: {z: {image: x}}\n'},2000)
g('G94-compose-include-tree','each Compose file includes the next twice','hang',lambda n:{'compose.yaml':'include: [c0.yaml]\n',**{'c%d.yaml'%i:'include: [c%d.yaml, ./c%d.yaml]\n'%(i+1,i+1) for i in range(n)},'c%d.yaml'%n:'services: {z: {image: x}}\n'},40)
g('G95-compose-merge-override','n override files for n services','hang',lambda n:{'compose.yaml':'services:\n'+''.join('  s%d: {image: x, depends_on: [%s]}\n'%(i,'s0') for i in range(n)),'compose.override.yaml':'services:\n'+''.join('  s%d: {environment: {A: b}}\n'%i for i in range(n))},6000)
g('G96-compose-services-x-dockerfile','n services with build args x a Dockerfile of 1,500 lines','hang',lambda n:{'compose.yaml':'services:\n'+''.join('  s%d: {build: {context: ., args: {A: "%d"}}}\n'%(i,i) for i in range(n)),'Dockerfile':'FROM x\nARG A\n'+''.join('RUN pip install p%d==$A\n'%i for i in range(1500))},300)
g('G97-compose-depends-cycle','depends_on over all pairs','hang',lambda n:{'compose.yaml':'services:\n'+''.join('  s%d: {image: x, depends_on: [%s]}\n'%(i,','.join('s%d'%j for j in range(n))) for i in range(n))},300)
# ---- Dockerfile, shell, requirement files
g('G100-docker-onbuild-stages','n stages, COPY --from every earlier stage','hang',lambda n:{'Dockerfile':''.join('FROM x AS s%d\nRUN pip install p%d\n'%(i,i) for i in range(n))+'FROM x\n'+''.join('COPY --from=s%d /usr /usr\n'%i for i in range(n))},3000)
g('G101-docker-env-grow','`ENV PATH=$PATH:/x` n times','memory',lambda n:{'Dockerfile':'FROM x\n'+'ENV PATH=$PATH:/usr/local/some/directory/bin\n'*n},8000)
g('G102-docker-many-args','n ARGs, each RUN sees all','hang',lambda n:{'Dockerfile':'FROM x\n'+''.join('ARG A%d=%d\nRUN pip install p$A%d\n'%(i,i,i) for i in range(n))},6000)
g('G103-docker-subst-nest','`${A:-${A:-…}}` n deep in ENV and FROM','crash',lambda n:{'Dockerfile':'ARG A\nFROM '+'${A:-'*n+'x'+'}'*n+'\nENV B='+'${A:+'*n+'x'+'}'*n+'\n'},50000)
g('G104-docker-pattern','`${A//a*a*a*…/}` with a long value','hang',lambda n:{'Dockerfile':'FROM x\nENV A='+'a'*n+'\nENV B=${A//'+'*a'*30+'b/x} C=${A##'+'*a'*30+'b} D=${A%%'+'a*'*30+'b}\n'},3000)
g('G105-docker-heredocs','one RUN with n heredocs','hang',lambda n:{'Dockerfile':'FROM x\nRUN cat '+' '.join('<<E%d'%i for i in range(n))+'\n'+''.join('x\nE%d\n'%i for i in range(n))},8000)
g('G106-docker-unterminated','n RUNs with heredocs that never end','hang',lambda n:{'Dockerfile':'FROM x\n'+''.join('RUN cat <<E%d\n'%i for i in range(n))},20000)
g('G107-docker-x-requirements','n Dockerfiles install one requirements.txt of 8,000 lines','memory',lambda n:{'requirements.txt':''.join('p%d==1.0\n'%i for i in range(8000)),**{'d%d.Dockerfile'%i:'FROM x\nCOPY requirements.txt .\nRUN pip install -r requirements.txt\n' for i in range(n)}},300)
g('G108-docker-stages-x-requirements','n stages install one requirements.txt of 8,000 lines','memory',lambda n:{'requirements.txt':''.join('p%d==1.0\n'%i for i in range(8000)),'Dockerfile':''.join('FROM x AS s%d\nCOPY requirements.txt .\nRUN pip install -r requirements.txt\n'%i for i in range(n))},1000)
g('G109-req-include-chain','n requirement files, each includes the next','crash',lambda n:{**{'requirements-%d.txt'%i:'-r requirements-%d.txt\ntorch==2.0\n'%(i+1) for i in range(n)},'requirements-%d.txt'%n:'numpy\n','Dockerfile':'FROM x\nRUN pip install -r requirements-0.txt\n'},2500)
g('G110-req-include-tree','each requirement file includes the next twice','hang',lambda n:{**{'requirements-%d.txt'%i:'-r requirements-%d.txt\n-r ./requirements-%d.txt\n'%(i+1,i+1) for i in range(n)},'requirements-%d.txt'%n:'numpy\n'},40)
g('G111-req-all-pairs','n requirement files that each include all others','hang',lambda n:{'requirements-%d.txt'%i:''.join('-r requirements-%d.txt\n'%j for j in range(n) if j!=i)+'torch==2.0\n' for i in range(n)},150)
g('G112-req-same-package','n lines of one package, and its companions','hang',lambda n:{'requirements.txt':''.join('torch==2.%d\ntorchvision==0.%d\n'%(i,i) for i in range(n))},6000)
g('G113-req-continuations','n continuation lines in one requirement','hang',lambda n:{'requirements.txt':'torch==2.0 \\\n'+' --hash=sha256:aa \\\n'*n+'\n'},40000)
g('G114-shell-env-doubling','shell script: `A1=$A0$A0` 60 times','memory',lambda n:{'run.sh':'#!/bin/bash\n#SBATCH --gres=gpu:1\nA0=aaaaaaaaaa\n'+''.join('A%d="$A%d$A%d"\n'%(i,i-1,i-1) for i in range(1,n))+'pip install $A%d\ntorchrun $A%d\n'%(n-1,n-1)},60)
g('G115-shell-if-nesting','`if true; then` n deep in a shell script','memory',lambda n:{'b.sh':'#!/bin/bash\n#SBATCH --gres=gpu:1\n'+'if true; then '*n+'pip install torch'+'; fi'*n+'\n'},20000)
g('G120-shell-nesting','`{`, `$(`, `case`, `$((` n deep','crash',lambda n:{'a.sh':'#!/bin/bash\n#SBATCH --gres=gpu:1\n'+'{ '*n+'pip install torch'+'; }'*n+'\n','c.sh':'#!/bin/bash\n#SBATCH --gres=gpu:1\nx='+'"$(echo '*n+'x'+')"'*n+'\npip install torch\n','d.sh':'#!/bin/bash\n#SBATCH --gres=gpu:1\n'+'case x in x) '*n+'pip install torch'+' ;; esac'*n+'\n','e.sh':'#!/bin/bash\n#SBATCH --gres=gpu:1\necho $(('+'('*n+'1'+')'*n+'))\npip install torch\n'},20000)
g('G116-shell-andor','one line of n `&&`, and n pipes','crash',lambda n:{'a.sh':'#!/bin/bash\n#SBATCH --gres=gpu:1\n'+'true && '*n+'pip install torch\n'+'cat | '*n+'sort\n','Dockerfile':'FROM x\nRUN '+'true && '*n+'pip install torch\n'},40000)
g('G117-shell-heredocs','n heredocs that never end in a script','hang',lambda n:{'a.sh':'#!/bin/bash\n#SBATCH --gres=gpu:1\n'+''.join('cat <<E%d\n'%i for i in range(n))},30000)
g('G118-shell-wrappers','`sudo env nice …` n times before the command','crash',lambda n:{'Dockerfile':'FROM x\nRUN '+'sudo env nice '*n+'pip install torch\n','a.yaml':GPU+'    command: ['+'env, sudo, '*n+'vllm, serve, m]\n'},10000)
g('G119-shell-sh-c-nest','`sh -c "sh -c \\"…` nested 17 deep (quotes double)','crash',lambda n:{'a.yaml':GPU+'    command: ['+'sh, -c, "exec sh -c '*1+"'"+'exec '*n+"vllm serve m'\"]\n"},50000)
# ---- Terraform
A=lambda e:'resource "kubernetes_pod" "x" {\n  a = %s\n}\n'%e
g('G130-tf-replace-squaring','`replace(local.z, "a", local.z)` squares','memory',lambda n:{'main.tf':'locals {\n  z0 = "aa"\n'+''.join('  z%d = replace(local.z%d, "a", local.z%d)\n'%(i,i-1,i-1) for i in range(1,n))+'}\n'+A('local.z%d'%(n-1))},12)
g('G131-tf-replace-empty','`replace(big, "", big)` and `/(?:)/`','memory',lambda n:{'main.tf':'locals {\n  b = format("%%%ds", "x")\n}\n'%n+A('length(replace(local.b, "", local.b))')+A('length(replace(local.b, "/(?:)/", local.b))').replace('"x"','"y"')},30000)
g('G132-tf-join-long','`join(big, range(10000))`','memory',lambda n:{'main.tf':'locals {\n  b = format("%%%ds", "x")\n}\n'%n+A('length(join(local.b, range(10000)))')},30000)
g('G133-tf-concat-doubling','`concat(local.l, local.l)` 60 times','memory',lambda n:{'main.tf':'locals {\n  l0 = ["x"]\n'+''.join('  l%d = concat(local.l%d, local.l%d)\n'%(i,i-1,i-1) for i in range(1,n))+'}\n'+A('length(local.l%d)'%(n-1))},60)
g('G134-tf-dag-jsonencode','objects that hold the last twice, then `jsonencode`','memory',lambda n:{'main.tf':'locals {\n  l0 = {a = "x"}\n'+''.join('  l%d = {a = local.l%d, b = local.l%d}\n'%(i,i-1,i-1) for i in range(1,n))+'}\n'+A('length(jsonencode(local.l%d))'%(n-1))+A('local.l%d == local.l%d'%(n-1,n-2)).replace('"x"','"y"')},60)
g('G135-tf-jsonencode-growth','`jsonencode` of its own text: backslashes double','memory',lambda n:{'main.tf':'locals {\n  l0 = "\\"\\\\"\n'+''.join('  l%d = jsonencode(local.l%d)\n'%(i,i-1) for i in range(1,n))+'}\n'+A('length(local.l%d)'%(n-1))},60)
g('G136-tf-formatlist','`formatlist(big, range(10000))`','memory',lambda n:{'main.tf':'locals {\n  b = format("%%%ds", "x")\n}\n'%n+A('length(formatlist("${local.b}%s", range(10000)))')},30000)
g('G137-tf-format-width','`format("%999999999d", 1)`, `%.999999999f`, `%*d`','memory',lambda n:{'main.tf':A('format("%%%d00000000d", 1)'%n)+A('format("%%.%d00000000f", 1.5)'%n).replace('"x"','"y"')+A('indent(%d00000000, "a\\nb")'%n).replace('"x"','"z"')},9)
g('G138-tf-bcrypt','`bcrypt("x", 30)` and sha512 loops','hang',lambda n:{'main.tf':A('[for i in range(%d) : bcrypt("x", 20)]'%n)+A('[for i in range(%d) : sha512(format("%%1000000s", i))]'%n).replace('"x"','"y"')},500)
g('G139-tf-cidrsubnets','`cidrsubnets` with n sizes and `cidrsubnet` loops','hang',lambda n:{'main.tf':A('length([for i in range(%d) : cidrsubnet("10.0.0.0/8", 16, i)])'%n)},20000)
g('G140-tf-locals-chain','n locals, each refers to the next','crash',lambda n:{'main.tf':'locals {\n'+''.join('  l%d = local.l%d\n'%(i,i+1) for i in range(n))+'  l%d = 1\n}\n'%n+A('local.l0')},15000)
g('G141-tf-locals-cycle','a cycle of n locals','crash',lambda n:{'main.tf':'locals {\n'+''.join('  l%d = local.l%d\n'%(i,(i+1)%n) for i in range(n))+'}\n'+A('local.l0')},15000)
g('G142-tf-binary-chain','`1 + 1 + … + 1` of n terms, `!`, `-` and `? :` chains','crash',lambda n:{'a.tf':A('1'+' + 1'*n),'b.tf':A('!'*n+'true').replace('"x"','"y"'),'c.tf':A('true ? 1 : '*n+'2').replace('"x"','"z"'),'d.tf':A('true'+' && true'*n).replace('"x"','"w"')},30000)
g('G143-tf-traversal','`local.a.a.a…`, `[0][0]…`, `[*][*]…` of n parts','crash',lambda n:{'a.tf':A('local.q'+'.a'*n),'b.tf':A('local.q'+'[0]'*n).replace('"x"','"y"'),'c.tf':A('local.q'+'[*]'*n).replace('"x"','"z"'),'d.tf':A('local.q'+'.*'*n).replace('"x"','"w"')},40000)
g('G144-tf-for-product','for over range in for: 20,000 x 20,000','hang',lambda n:{'main.tf':A('length([for i in range(%d) : [for j in range(%d) : i]])'%(n,n))},20000)
g('G145-tf-attr-copies','`labels = local.big` (60 KB map) in n resources','memory',lambda n:{'main.tf':'locals {\n  big = {\n'+''.join('    k%d = "v"\n'%i for i in range(4000))+'  }\n}\n'+''.join('resource "kubernetes_pod" "x%d" {\n  labels = local.big\n}\n'%i for i in range(n))},2000)
g('G146-tf-text-copies','attribute of a 100 KB text in n resources','memory',lambda n:{'main.tf':'locals {\n  big = "'+'x'*100000+'"\n}\n'+''.join('resource "kubernetes_pod" "x%d" {\n  a = "${local.big}%d"\n}\n'%(i,i) for i in range(n))},5000)
g('G147-tf-module-chain','n modules, each calls the next','crash',lambda n:{'main.tf':'module "m" {\n  source = "./m0"\n}\n',**{'m%d/main.tf'%i:'module "m" {\n  source = "../m%d"\n}\nresource "x" "y" {}\n'%(i+1) for i in range(n)},'m%d/main.tf'%n:'resource "x" "y" {}\n'},1000)
g('G148-tf-module-tree','each module calls the next twice','hang',lambda n:{'main.tf':'module "m" {\n  source = "./m0"\n}\n',**{'m%d/main.tf'%i:'module "a" {\n  source = "../m%d"\n}\nmodule "b" {\n  source = "../m%d"\n}\nresource "x" "y" {}\n'%(i+1,i+1) for i in range(n)},'m%d/main.tf'%n:'resource "x" "y" {}\n'},40)
g('G149-tf-templatefile-loops','`templatefile` with nested %{for}','hang',lambda n:{'main.tf':A('templatefile("${path.module}/t.tpl", {l = range(%d)})'%n),'t.tpl':'%{for i in l}%{for j in l}%{for k in l}xxxxxxxx%{endfor}%{endfor}%{endfor}'},300)
g('G150-tf-templatefile-self','`templatefile` that calls itself','crash',lambda n:{'main.tf':A('templatefile("t.tpl", {a = 1})'),'t.tpl':'${templatefile("t.tpl", {a = a})}'*n},3)
g('G151-tf-template-nest','string template nested n deep','crash',lambda n:{'main.tf':A('"${'*n+'1'+'}"'*n)},20000)
g('G152-tf-dynamic','dynamic blocks in dynamic blocks: 60^5','hang',lambda n:{'main.tf':'resource "kubernetes_pod" "x" {\n'+''.join('dynamic "b%d" {\nfor_each = range(%d)\ncontent {\n'%(i,n) for i in range(5))+'a = 1\n'+'}\n}\n'*5+'}\n'},30)
g('G153-tf-regexall','n different large regexes, and `regexall("", big)`','hang',lambda n:{'main.tf':A('[for i in range(%d) : can(regex("(((a{90}){90}){9}|.*)${i}", "b"))]'%n)},1000)
g('G154-tf-distinct','`distinct`, `setunion`, `sort`, `setsubtract`, `index` over n','hang',lambda n:{'main.tf':A('length(distinct([for i in range(%d) : {a = i}]))'%n)+A('length(setsubtract(toset([for i in range(%d) : "a${i}"]), toset([for i in range(%d) : "b${i}"])))'%(n,n)).replace('"x"','"y"')},20000)
g('G155-tf-merge-loop','`merge(local.big, …)` n times','hang',lambda n:{'main.tf':'locals {\n  b = {for i in range(5000) : "k${i}" => i}\n}\n'+A('length([for i in range(%d) : merge(local.b, {a = i})])'%n)},2000)
g('G156-tf-count','for_each and count of 60 in nested modules: 60^4','memory',lambda n:{'main.tf':'module "m" {\n  source = "./a"\n  count = %d\n}\n'%n,'a/main.tf':'module "m" {\n  source = "../b"\n  count = %d\n}\n'%n,'b/main.tf':'module "m" {\n  source = "../c"\n  count = %d\n}\n'%n,'c/main.tf':'resource "aws_instance" "x" {\n  count = %d\n  instance_type = "p5.48xlarge"\n}\n'%n},30)
g('G157-tf-pools-x-clusters','n node groups x n clusters of one name x n pods','hang',lambda n:{'main.tf':''.join('resource "aws_eks_cluster" "c%d" {\n  name = "c"\n}\nresource "aws_eks_node_group" "g%d" {\n  cluster_name = "c"\n  instance_types = ["p5.48xlarge"]\n}\n'%(i,i) for i in range(n)),'a.yaml':'---\n'.join(GPU.replace('name: bad','name: q%d'%i) for i in range(n))},700)
g('G158-tf-variables','n variables with n tfvars files','hang',lambda n:{'main.tf':''.join('variable "v%d" {\n  default = 1\n}\n'%i for i in range(n))+A('['+','.join('var.v%d'%i for i in range(n))+']'),**{'%d.auto.tfvars'%i:''.join('v%d = 2\n'%j for j in range(60)) for i in range(n//60)}},6000)
# ---- CloudFormation, Ansible, locks
g('G160-cfn-foreach','CloudFormation Fn::ForEach nested: 10^n','hang',lambda n:{'template.yaml':'AWSTemplateFormatVersion: "2010-09-09"\nTransform: AWS::LanguageExtensions\nResources:\n'+''.join('  '*(i+1)+'Fn::ForEach::L%d:\n'%i+'  '*(i+1)+'- I%d\n'%i+'  '*(i+1)+'- [a,b,c,d,e,f,g,h,i,j]\n'+'  '*(i+1)+'- \n' for i in range(n))+'  '*(n+1)+'"R${I0}": {Type: AWS::EC2::Instance, Properties: {InstanceType: p5.48xlarge}}\n'},9)
g('G161-cfn-join','CloudFormation Fn::Sub/Join with a 100 KB Mapping used n times','memory',lambda n:{'template.yaml':'AWSTemplateFormatVersion: "2010-09-09"\nParameters: {P: {Type: String, Default: "'+'x'*100000+'"}}\nResources:\n'+''.join('  R%d: {Type: AWS::EC2::Instance, Properties: {InstanceType: !Ref P, UserData: !Sub "${P}${P}"}}\n'%i for i in range(n))},3000)
g('G162-cfn-sub-nest','CloudFormation Fn::If/Fn::Join nested n deep','crash',lambda n:{'template.json':'{"AWSTemplateFormatVersion":"2010-09-09","Resources":{"R":{"Type":"AWS::EC2::Instance","Properties":{"InstanceType":'+'{"Fn::Join":["",['*n+'"p5"'+']]}'*n+'}}}}'},60)
g('G163-ansible-vars','Ansible vars: `{{ a0 }}{{ a0 }}` 60 times','memory',lambda n:{'playbook.yml':'- hosts: all\n  vars:\n    a0: aaaaaaaaaa\n'+''.join('    a%d: "{{ a%d }}{{ a%d }}"\n'%(i,i-1,i-1) for i in range(1,n))+'  tasks:\n  - pip: {name: "torch=={{ a%d }}"}\n'%(n-1)},60)
g('G164-poetry-lock','poetry.lock of n packages that depend on all others','hang',lambda n:{'poetry.lock':''.join('[[package]]\nname="p%d"\nversion="1.0"\n[package.dependencies]\n%s\n'%(i,'\n'.join('p%d = "*"'%j for j in range(40))) for i in range(n))},1200)
g('G165-conda-lock','conda environment of n packages with a pip section of n','hang',lambda n:{'environment.yml':'name: x\ndependencies:\n'+''.join('- p%d=1.0\n'%i for i in range(n))+'- pip:\n'+''.join('  - q%d==1.0\n'%i for i in range(n))},12000)
g('G166-pyproject-groups','pyproject dependency-groups that include each other (tree)','hang',lambda n:{'pyproject.toml':'[project]\nname="x"\nversion="1"\n[dependency-groups]\n'+''.join('g%d = [{include-group="g%d"},{include-group="g%d"}]\n'%(i,i+1,i+1) for i in range(n))+'g%d = ["torch==2.0"]\n'%n},60)
g('G167-pyproject-extras','extras of the project that name each other (tree)','hang',lambda n:{'pyproject.toml':'[project]\nname="x"\nversion="1"\ndependencies=["x[g0]"]\n[project.optional-dependencies]\n'+''.join('g%d = ["x[g%d]","x[g%d]"]\n'%(i,i+1,i+1) for i in range(n))+'g%d = ["torch==2.0"]\n'%n,'Dockerfile':'FROM x\nCOPY . .\nRUN pip install .[g0]\n'},60)
g('G168-pipfile-lock','Pipfile.lock of n packages, requirements.txt of n','hang',lambda n:{'Pipfile.lock':'{"default":{'+','.join('"p%d":{"version":"==1.0"}'%i for i in range(n))+'}}','requirements.txt':''.join('p%d==1.0\n'%i for i in range(n))},15000)
# ---- configuration and rules of the repository
RULE='id: evil-rule\npack: evil\nseverity: error\napplies_to: container\n%sforbid: "%s"\nmessage: "%s"\nhelp: h\nwhy: w\nreferences: [x]\nexamples: []\n'
PK={'a.yaml':GPU,'.gpulint.yaml':'packs: [pk]\n'}
g('G170-rule-replace-growth','rule: replace squares a text (let chain)','memory',lambda n:{**PK,'pk/r.yaml':RULE%('let:\n  a0: "\'aa\'"\n'+''.join('  a%d: "replace(a%d, \'a\', a%d)"\n'%(i,i-1,i-1) for i in range(1,n)),"size(a%d) == 1"%(n-1),'m')},12)
g('G171-rule-list-doubling','rule: `a + a` of lists, flatten, map of map','memory',lambda n:{**PK,'pk/r.yaml':RULE%('let:\n  a0: "[1]"\n'+''.join('  a%d: "flatten([a%d, a%d])"\n'%(i,i-1,i-1) for i in range(1,n)),"size(a%d) == 1"%(n-1),'m')},60)
g('G172-rule-nesting','rule: expression of n `!`, brackets, `+`, `? :`, fields','crash',lambda n:{**PK,**{'pk/r%d.yaml'%k:(RULE%('',e,'m')).replace('evil-rule','evil-%d'%k) for k,e in enumerate(['!'*n+'true','('*n+'true'+')'*n,'1'+' + 1'*n+' == 2','true ? true : '*n+'true','['*n+']'*n+' == null','container'+'.spec'*n+' == null','-'*n+'1 == 2',"'a'"+".replace('a','b')"*n+" == 'b'",'true'+' && true'*n])}},20000)
g('G173-rule-message','rule: message of n `{…}` parts over a long text','memory',lambda n:{**PK,'a.yaml':GPU+'    args: ["'+'x'*50000+'"]\n','pk/r.yaml':RULE%('','true','{container.command}'*n)},3000)
g('G174-rule-many','n rules of the repository over n containers','hang',lambda n:{'a.yaml':'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n'+''.join('  - {name: c%d, image: x}\n'%i for i in range(n)),'.gpulint.yaml':'packs: [pk]\n',**{'pk/r%d.yaml'%i:(RULE%('','container.name == null','m')).replace('evil-rule','evil-%d'%i) for i in range(n)}},500)
g('G175-rule-nested-quantifiers','rule: three nested `exists` over containers of all workloads','hang',lambda n:{'a.yaml':'---\n'.join(GPU.replace('name: bad','name: p%d'%i) for i in range(n)),'.gpulint.yaml':'packs: [pk]\n','pk/r.yaml':RULE%('','workloads().exists(a, a.pods.exists(b, b.containers.exists(c, workloads().exists(d, d.name == c.name))))','m')},400)
g('G176-rule-within','rule: within() with a range of n clauses','hang',lambda n:{**PK,'pk/r.yaml':RULE%('',"within(version('1.2.3'), '"+','.join('>=1.%d'%i for i in range(n))+"')",'m')},40000)
g('G177-config-pools','.gpulint.yaml: n node pools x n pods','hang',lambda n:{'a.yaml':'---\n'.join(GPU.replace('name: bad','name: p%d'%i) for i in range(n)),'.gpulint.yaml':'clusters:\n- name: x\n  platform: eks\n  node_pools:\n'+''.join('  - {name: h%d, gpu: H100, count: 8, labels: {t: g%d}, taints: ["a%d=b:NoSchedule"]}\n'%(i,i,i) for i in range(n))},1200)
g('G178-config-excludes','.gpulint.yaml: n exclude globs x m files','hang',lambda n:{**{'d/%d.yaml'%i:CM for i in range(2000)},'.gpulint.yaml':'exclude: ['+','.join('"**/a*b*c%d/**/z"'%i for i in range(n))+']\n'},3000)
# ---- what inherits, is merged and is put in
SH='#!/bin/sh\n'
g('G401-ansible-variables','variables of a role made of 60 others each, eight levels','hang',lambda n:{'roles/r/defaults/main.yml':"v0: ''\n"+''.join("v%d: '%s'\n"%(i,'{{ v%d }}'%(i-1)*n) for i in range(1,8)),'roles/r/tasks/main.yml':"- name: '{{ v7 }}'\n  apt: {name: 'x{{ v7 }}'}\n"},60)
g('G402-ansible-map-many','one map of an inventory given to n charts','memory',lambda n:{'group_vars/all.yml':'v:\n'+''.join('  k%d: "{{ w }}"\n'%i for i in range(8000))+'w: x\n','roles/r/tasks/main.yml':''.join('- helm: {name: a%d, chart_ref: nvidia/gpu-operator, values: "{{ v }}"}\n'%i for i in range(n))},2000)
g('G403-ansible-open-braces','n `{{` that nothing closes','hang',lambda n:{'roles/r/defaults/main.yml':'v: "%s"\n'%('{{ '*n),'roles/r/tasks/main.yml':'- apt: {name: "{{ v }}%s"}\n'%('{{ '*n)},100000)
g('G404-bake-inherits','n targets that inherit 8,000 labels, each with one of its own','memory',lambda n:{'docker-bake.json':json.dumps({'target':{'base':{'labels':{'l%d'%i:'v' for i in range(8000)}},**{'t%d'%i:{'inherits':['base'],'labels':{'z':'1'}} for i in range(n)}}})},2000)
g('G405-helm-values-set','n `helm upgrade -f` of one large file, each with --set','memory',lambda n:{'values.yaml':''.join('k%d: v\n'%i for i in range(20000)),'go.sh':SH+''.join('helm upgrade --install r%d vllm/vllm-stack -f values.yaml --set a=%d\n'%(i,i) for i in range(n))},1000)
g('G406-helmfile-inherit','n releases that inherit two large layers of values','memory',lambda n:{'helmfile.yaml':'templates:\n  base:\n    chart: vllm/vllm-stack\n    values:\n'+''.join('    - {%s}\n'%', '.join('a%d: %d'%(i,k) for i in range(6000)) for k in (1,2))+'releases:\n'+''.join('- name: r%d\n  inherit: [{template: base}]\n'%i for i in range(n))},1200)
g('G407-terraform-values-file','n helm_release with one large file of values','hang',lambda n:{'values.yaml':''.join('k%d: v\n'%i for i in range(20000)),'main.tf':''.join('resource "helm_release" "r%d" {\n  name="r%d"\n  chart="gpu-operator"\n  values=[file("${path.module}/values.yaml"),"x: 1\\n"]\n  set {\n    name="a"\n    value="b"\n  }\n}\n'%(i,i) for i in range(n))},800)
g('G408-app-template-defaults','n containers over large defaults of their controller','memory',lambda n:{'values.yaml':'controllers:\n  m:\n    defaultContainerOptionsStrategy: merge\n    defaultContainerOptions: {image: {repository: x}, env: {%s}}\n    containers:\n'%', '.join('A%d: b'%i for i in range(6000))+''.join('      c%d: {image: {tag: a}, env: {Z: y}}\n'%i for i in range(n))},1500)
FK='apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: k%d}\nspec:\n  path: ./apps/a%d\n  postBuild:\n    substitute: {Z: y}\n    substituteFrom: [{kind: ConfigMap, name: big}]\n'
g('G409-flux-shared-values','n Kustomizations of Flux that take values from one large ConfigMap','hang',lambda n:{'ks.yaml':'---\n'.join(FK%(i,i) for i in range(n)),'big.yaml':'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata:\n'+''.join('  K%d: v\n'%i for i in range(8000)),**{'apps/a%d/x.yaml'%i:CM.replace('b: b','b: "${K7999} ${Z} ${NONE}"') for i in range(n)}},400)
g('G410-flux-references','n references to a text of 4 KB in one object','memory',lambda n:{'ks.yaml':FK%(1,1)+'    ','big.yaml':'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata: {T: %s}\n'%('a'*4000),'apps/a1/x.yaml':'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n'+''.join('  k%d: x${T}\n'%i for i in range(n))},20000)
g('G411-applicationset-elements','n elements of an ApplicationSet over a large template','memory',lambda n:{'a.yaml':'apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: a}\nspec:\n  generators:\n  - list:\n      elements: [%s]\n  template:\n    spec:\n      source:\n        chart: gpu-operator\n        helm:\n          valuesObject:\n%s'%(', '.join('{c: c%d}'%i for i in range(n)),''.join('            k%d: "{{c}}"\n'%i for i in range(6000)))},2000)
g('G412-app-template-routes','n ingresses over n services','hang',lambda n:{'values.yaml':'controllers: {m: {containers: {c: {image: {repository: x}}}}}\nservice:\n'+''.join('  s%d: {ports: {http: {port: 80}}}\n'%i for i in range(n))+'ingress:\n'+''.join('  i%d: {hosts: [{paths: [{path: /, service: {identifier: s%d}}]}]}\n'%(i,i) for i in range(n))},2000)
g('G413-nomad-variables','n tasks of Nomad with one variable of 100 KB','memory',lambda n:{'j.nomad.hcl':'variable "v" {\n  default = "%s"\n}\njob "j" {\n'%('a'*100000)+''.join('  group "g%d" {\n    task "t" {\n      driver = "docker"\n      config {\n        image = "${var.v}${var.v}"\n      }\n      resources {\n        device "nvidia/gpu" {\n          count = 1\n        }\n      }\n    }\n  }\n'%i for i in range(n))+'}\n'},1500)
g('G414-truss-packages','n requirements and n further indexes of a Truss','hang',lambda n:{'config.yaml':'model_name: x\nresources: {accelerator: H100:8, use_gpu: true}\npython_version: py311\nmodel_metadata: {}\nrequirements:\n'+''.join('- --extra-index-url=https://i%d.example\n- p%d==1.0\n'%(i,i) for i in range(n))},8000)
g('G415-packer-sources','n machines of Packer and n scripts','hang',lambda n:{'a.pkr.hcl':''.join('source "amazon-ebs" "s%d" {\n  instance_type = "p5.48xlarge"\n}\n'%i for i in range(n))+'build {\n'+''.join('  provisioner "shell" {\n    inline = ["pip install p%d", "docker run --gpus all vllm/vllm-openai:v0.8.5 --model x%d"]\n  }\n'%(i,i) for i in range(n))+'}\n'},1500)
g('G416-cog-run','n commands and packages of Cog','hang',lambda n:{'cog.yaml':'build:\n  gpu: true\n  cuda: "12.1"\n  python_version: "3.11"\n  python_packages:\n'+''.join('  - p%d==1.0\n'%i for i in range(n))+'  run:\n'+''.join('  - pip install q%d\n'%i for i in range(n))},4000)
g('G179-config-ignores','.gpulint.yaml: n ignores x n findings','hang',lambda n:{'a.yaml':'---\n'.join(BAD.replace('name: bad','name: p%d'%i) for i in range(n)),'.gpulint.yaml':'ignores:\n'+''.join('- {rule: gpu-limit-missing, object: "q%d*", path: "**/x%d.yaml", reason: r}\n'%(i,i) for i in range(n))},2000)
g('G180-config-unknown-rules','.gpulint.yaml: n unknown rule ids, or one id of 500 KB','hang',lambda n:{'a.yaml':GPU,'.gpulint.yaml':'rules:\n  gpu-'+'a'*n+': off\n'},400000)
g('G181-config-helm-sets','.gpulint.yaml: n releases of one chart','hang',lambda n:{**CH,'c/templates/a.yaml':GPU.replace('name: bad','name: "{{ .Release.Name }}"'),'.gpulint.yaml':'helm:\n'+''.join('- {chart: c, release: r%d, set: {a: %d}}\n'%(i,i) for i in range(n))},2000)
g('G182-ignorefile','.gpulintignore of n patterns x m files','hang',lambda n:{**{'d/e/f/%d.yaml'%i:CM for i in range(2000)},'.gpulintignore':''.join('**/a*%d/[a-z]*/q\n'%i for i in range(n))},20000)
g('G183-ignorefile-regex','.gitignore line of 200 KB of `*` and `[`','hang',lambda n:{'a.yaml':BAD,**{'d/'+'a'*200+'%d.yaml'%i:CM for i in range(50)},'.gitignore':('*a'*n)+'b\n'+'['*n+'\n'+'{a,b}'*n+'\n'},20000)
g('G184-data-classes','.gpulint.yaml: n data classes and SLAs x n objects','hang',lambda n:{'a.yaml':'---\n'.join(dep(i) for i in range(n)),'.gpulint.yaml':'sla:\n'+''.join('- {workload: d%d, availability: 99.95}\n'%i for i in range(n))+'data_classes:\n'+''.join('- {name: p%d, label: dc, regions: [a], encrypted: true}\n'%i for i in range(n))},1500)
g('G185-named-arguments','a directory of n links to one directory of files','hang',lambda n:{**{'d/%d.yaml'%i:GPU for i in range(30)}},300,links={'l%d':'d'})
# ---------------------------------------------------------------- hiding
T='gpu-request-differs-from-limit'; HIDE=[]
def h(id,title,hidden,why,control=None,rule=T,links=None,args=('--isolated',)): HIDE.append((id,title,hidden,why,control or {'a.yaml':BAD},rule,links or {},args))
OKF={'zz/ok.yaml':CM}
GOOD=BAD.replace('{nvidia.com/gpu: 2}','{nvidia.com/gpu: 1}')
ind=lambda s,n: ''.join(' '*n+l+'\n' for l in s.splitlines())
K='kubectl annotate --local -f a.yaml a=b -o name (v1.32) prints pod/bad and its JSON has the number; '
ITEM='- '+ind(BAD,2).lstrip()
h('H01-k8s-podlist-without-kind','items of a PodList without kind and apiVersion',{'a.yaml':'apiVersion: v1\nkind: PodList\nitems:\n- '+ind(BAD.split('\n',2)[2],2).lstrip()},K+'unstructured lists give items the kind of the list less "List"')
h('H02-k8s-items-any-kind','kind: Foo with `items`',{'a.yaml':'apiVersion: v1\nkind: Foo\nitems:\n'+ITEM},K+'whatever has `items` is a list to kubectl')
h('H03-k8s-items-in-configmap','kind: ConfigMap with `items`',{'a.yaml':'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\nitems:\n'+ITEM},K+'whatever has `items` is a list to kubectl')
h('H04-yaml-binary-key','key `!!binary cmVzb3VyY2Vz`',{'a.yaml':BAD.replace('    resources:','    !!binary cmVzb3VyY2Vz:')},K+'go-yaml decodes !!binary: the key is `resources`')
h('H05-yaml-hex','`nvidia.com/gpu: 0x2`',{'a.yaml':BAD.replace('gpu: 2','gpu: 0x2')},K+'go-yaml reads 2')
h('H06-yaml-binary-int','`nvidia.com/gpu: 0b10`',{'a.yaml':BAD.replace('gpu: 2','gpu: 0b10')},K+'go-yaml reads 2')
h('H07-yaml-octal-0o','`nvidia.com/gpu: 0o2`',{'a.yaml':BAD.replace('gpu: 2','gpu: 0o2')},K+'go-yaml reads 2')
h('H08-yaml-underscore','`nvidia.com/gpu: 1_0`',{'a.yaml':BAD.replace('gpu: 2','gpu: 1_0')},K+'go-yaml reads 10')
h('H09-yaml-bom-second-document','U+FEFF at the start of the second document',{'a.yaml':'# x\n---\n\ufeff'+BAD},K+'each document is decoded by itself, a BOM at its start is skipped')
h('H16-yaml-tab-before-kind','tab in a flow map, before apiVersion and kind',{'a.yaml':'metadata: {\n\tname: bad}\n'+BAD.replace('metadata: {name: bad}\n','')},K+'go-yaml takes tabs inside of {…}; gpulint: a skip "not valid YAML", exit 0')
h('H10-yaml-tab-in-flow-helm','tab before a key inside of {…}, rendered by Helm',{**CH,'c/templates/a.yaml':'{{ if true }}\n'+BAD.replace('{requests','{\n\trequests')+'{{ end }}'},'helm template prints it and go-yaml takes it (helm parses manifests before sorting)')
h('H11-name-gpulint-yaml','a Pod in .gpulint.yaml under --isolated',{'.gpulint.yaml':BAD},'kubectl apply -f DIR reads every .yaml, hidden ones too')
h('H12-name-gpulint-yml','a Pod in .gpulint.yml',{'.gpulint.yml':BAD},'as H11')
PJ=json.dumps({"apiVersion":"v1","kind":"Pod","metadata":{"name":"bad"},"spec":{"containers":[{"name":"c","image":"x","resources":{"requests":{"nvidia.com/gpu":2},"limits":{"nvidia.com/gpu":1}}}]}})
h('H13-name-pnpm-lock','a Pod in pnpm-lock.yaml and renovate.json',{'pnpm-lock.yaml':BAD,'renovate.json':PJ},'kubectl apply -f DIR goes by the extension only; gpulint counts "file of a tool" and exits 0')
h('H14-dir-testdata','a Pod in testdata/',{'testdata/a.yaml':BAD},'kubectl apply -R -f . reads it; gpulint: a skip, exit 0')
h('H15-dir-svn-hg','Pods in .svn/ and .hg/',{'.svn/a.yaml':BAD,'.hg/a.yaml':BAD},'kubectl apply -R -f . reads them; Git commits them like any directory; not even counted')
KU='kustomize build k (v5.7.1) emits the Pod with request 2; '
for i,(t,n) in enumerate([('a .txt','bad.txt'),('no extension','bad'),('a leading dot','.hidden'),('package.json','package.json'),('node_modules/','node_modules/bad.yaml')]):
    h('H2%d-kust-resource-%s'%(i,re.sub(r'\W+','-',n).strip('-')),'kustomization lists a resource with '+t,{'k/kustomization.yaml':'resources: ["%s"]\n'%n,'k/'+n:PJ if n.endswith('.json') else BAD},KU+'the file is in the repository, gpulint says "is not among the files of this run", a skip, exit 0')
P='- op: replace\n  path: /spec/containers/0/resources/requests/nvidia.com~1gpu\n  value: 2\n'
SM='apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec:\n  containers:\n  - name: c\n    resources: {requests: {nvidia.com/gpu: 2}}\n'
O=lambda extra,**f:{'k/kustomization.yaml':'resources: [g.yaml]\n'+extra,'k/g.yaml':GOOD,**f}
h('H25-kust-patch-txt','patches: path with another extension',O('patches: [{path: p.txt}]\n',**{'k/p.txt':SM}),KU,O('patches: [{path: p.yaml}]\n',**{'k/p.yaml':SM}))
h('H26-kust-transformer-j6902','transformers: builtin PatchJson6902Transformer',O('transformers: [t.yaml]\n',**{'k/t.yaml':'apiVersion: builtin\nkind: PatchJson6902Transformer\nmetadata: {name: x}\ntarget: {kind: Pod, name: bad, version: v1}\njsonOp: |\n'+ind(P,2)}),KU+'builtin transformers need no --enable-alpha-plugins',O('transformers: [t.yaml]\n',**{'k/t.yaml':'apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\ntarget: {kind: Pod}\npatch: |\n'+ind(P,2)}))
h('H27-kust-transformers-directory','transformers: a directory with a kustomization',O('transformers: [t]\n',**{'k/t/kustomization.yaml':'resources: [t.yaml]\n','k/t/t.yaml':'apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\ntarget: {kind: Pod}\npatch: |\n'+ind(P,2)}),KU)
h('H28-kust-replacement-transformer','transformers: builtin ReplacementTransformer',O('transformers: [t.yaml]\n',**{'k/t.yaml':'apiVersion: builtin\nkind: ReplacementTransformer\nmetadata: {name: x}\nreplacements:\n- source: {kind: Pod, fieldPath: metadata.annotations.n}\n  targets:\n  - select: {kind: Pod}\n    fieldPaths: ["spec.containers.0.resources.requests.[nvidia.com/gpu]"]\n','k/g.yaml':GOOD.replace('{name: bad}','{name: bad, annotations: {n: "2"}}')}),KU)
h('H29-kust-component-alone','a Component that nothing includes lists bad.txt',{'comp/kustomization.yaml':'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [b.txt]\n','comp/b.txt':BAD},'kustomize build comp emits it; not even a skip')
h('H30-kust-swallowed-as-patch','a whole Pod that is only `patches: path:` of a target that selects nothing',{'k/kustomization.yaml':'resources: [cm.yaml]\npatches: [{path: bad.yaml, target: {kind: Nope}}]\n','k/cm.yaml':CM,'k/bad.yaml':BAD},'kustomize build k succeeds without it, kubectl apply -f k/bad.yaml takes it; sibling of F12: no build emits it, so it is to be linted by itself')
HE='helm template r c (v3.16) prints the Pod with request 2; '
IF='{{ if %s }}\n'+BAD+'{{ end }}\n'
for n,(e,why) in enumerate([('.Values.AsMap','.Values is chartutil.Values, whose methods AsMap, YAML, Table and PathValue templates may call'),('.Values.YAML','as H40'),('(.Values.PathValue "a.b")','as H40; a template-error of severity warning, exit 0'),('.Chart.Metadata','.Chart embeds *chart.Metadata'),('.Capabilities.KubeVersion.String','a method of KubeVersion'),('.Capabilities.HelmVersion.GoVersion','a field of version.BuildInfo'),('(eq 0x1p4 16.0)','hexadecimal floats are Go syntax'),('(eq (printf "%[2]s%[1]s" "a" "b") "ba")','argument indexes are Go syntax'),('(typeIs "chartutil.Values" .Values)','its Go type'),('(eq (wrapWith 1 "-" "ab") "a-b")','sprig: goutils.WrapCustom wraps long words'),('((.Values.nope).x | not)','nil in brackets: its field is nil, no error'),('(index .Files "f.txt")','.Files is a map'),('(eq (kindOf .Chart) "struct")','its Go kind')]):
    h('H%d-helm-%s'%(40+n,re.sub(r'\W+','-',e).strip('-')[:28]),'`{{ if %s }}` canary `{{ end }}`'%e,{**CH,'c/values.yaml':'a: {b: 1}\n','c/f.txt':'x','c/templates/a.yaml':IF%e},HE+why,{**CH,'c/templates/a.yaml':IF%'true'})
def tgz(ms):
    b=io.BytesIO()
    with tarfile.open(fileobj=b,mode='w:gz') as t:
        for n,c in ms:
            c=c.encode(); ti=tarfile.TarInfo(n); ti.size=len(c); t.addfile(ti,io.BytesIO(c))
    return b.getvalue()
SUB=('d/Chart.yaml','apiVersion: v2\nname: d\nversion: 1.0.0\n'); TC={**CH,'c/charts/d.tgz':tgz([SUB,('d/templates/a.yaml',BAD)])}
h('H60-helm-chart-yaml-template','a template named templates/Chart.yaml',{**CH,'c/templates/Chart.yaml':BAD},HE+'only Chart.yaml of the root is metadata')
h('H61-helm-template-node-modules','templates/node_modules/a.yaml',{**CH,'c/templates/node_modules/a.yaml':BAD},HE+'Helm knows no such exclusion')
h('H62-tgz-two-values','packed chart with values.yaml twice',{**CH,'c/charts/d.tgz':tgz([SUB,('d/values.yaml','x: false\n'),('d/values.yaml','x: true\n'),('d/templates/a.yaml',IF%'.Values.x')])},HE+'the last one wins',TC)
h('H63-tgz-dot-dot-inside','packed chart: d/x/../templates/a.yaml',{**CH,'c/charts/d.tgz':tgz([SUB,('d/x/../templates/a.yaml',BAD)])},HE+'names are cleaned',TC)
h('H64-tgz-helmignore','packed chart with a .helmignore',{**CH,'c/charts/d.tgz':tgz([SUB,('d/.helmignore','templates\n'),('d/templates/a.yaml',BAD)])},HE+'.helmignore is for directories, not for archives',TC)
h('H65-tgz-hidden-template','packed chart: templates/.a.yaml',{**CH,'c/charts/d.tgz':tgz([SUB,('d/templates/.a.yaml',BAD)])},HE+'the default rule templates/.?* is for directories, not for archives',TC)
h('H66-tgz-crds','packed chart: crds/a.yaml is a Pod',{**CH,'c/charts/d.tgz':tgz([SUB,('d/crds/a.yaml',BAD)])},'helm template --include-crds prints it, helm install creates all objects of crds/; gpulint skips it as "Go template"',{**CH,'c/crds/a.yaml':BAD})
h('H67-helmignore-bang-class','.helmignore `templates/[!b].yaml`',{**CH,'c/.helmignore':'templates/[!b].yaml\n','c/templates/a.yaml':IF%'true'},HE+'Helm matches with filepath.Match, where `!` in a class is itself',{**CH,'c/templates/a.yaml':IF%'true'})
h('H68-helm-lookup','`{{ if lookup "v1" "Namespace" "" "default" }}`',{**CH,'c/templates/a.yaml':IF%'(lookup "v1" "Namespace" "" "default")'},'helm install asks the cluster (helm docs, "Using the lookup function"): the namespace default exists everywhere; gpulint takes the empty answer of a dry run for known',{**CH,'c/templates/a.yaml':IF%'true'})
h('H69-helm-is-upgrade','`{{ if .Release.IsUpgrade }}`',{**CH,'c/templates/a.yaml':IF%'.Release.IsUpgrade'},'true in every helm upgrade (helm docs, "Built-in objects"); gpulint takes the install for known',{**CH,'c/templates/a.yaml':IF%'.Release.IsInstall'})
h('H70-helm-kubeversion','`{{ if semverCompare "<1.30-0" .Capabilities.KubeVersion.Version }}`',{**CH,'c/templates/a.yaml':IF%'semverCompare "<1.30-0" .Capabilities.KubeVersion.Version'},'the version of the cluster; helm template --kube-version 1.29 prints it; gpulint takes one version for known',{**CH,'c/templates/a.yaml':IF%'true'})
h('H71-helm-fail-elsewhere','another template calls `fail` without --set ack=true',{**CH,'c/templates/z.yaml':'{{ if not .Values.ack }}{{ fail "set ack" }}{{ end }}\n','c/templates/a.yaml':IF%'true'},'helm template --set ack=true prints it; gpulint: a note "not judged", exit 0',{**CH,'c/templates/a.yaml':IF%'true'})
h('H72-helm-values-binary','values: `x: !!binary YQ==`',{**CH,'c/values.yaml':'x: !!binary YQ==\n','c/templates/a.yaml':IF%'eq .Values.x "a"'},HE+'go-yaml decodes it',{**CH,'c/values.yaml':'x: a\n','c/templates/a.yaml':IF%'eq .Values.x "a"'})
h('H73-helm-else-if-chain','3,000 `else if` before the canary',{**CH,'c/templates/a.yaml':'{{ if false }}'+'{{ else if false }}'*3000+'{{ else }}\n'+BAD+'{{ end }}\n'},HE+'Go has no such limit for else-if; gpulint: template-error of severity warning, exit 0',{**CH,'c/templates/a.yaml':IF%'true'})
h('H74-helm-library-plain','plain manifest in templates/ of a library chart',{**CH,'c/Chart.yaml':CH['c/Chart.yaml']+'type: library\n','c/templates/a.yaml':BAD},'helm installs no library, but kubectl apply -f c/templates/a.yaml takes the plain file; a skip "no values switch on", exit 0')
h('H75-helm-helmignored-plain','plain manifest that .helmignore takes out of the chart',{**CH,'c/.helmignore':'templates/a.yaml\n','c/templates/a.yaml':BAD},'as H74: an ignore file of the repository that --isolated goes by')
L='torch==1.13.1+cu116\n'; TR='local-version-without-index'; CR={'requirements.txt':L}
for i,(n,c) in enumerate([('vt','\x0b'),('ff','\x0c'),('rs','\x1e'),('nel','\x85'),('ls','\u2028'),('cr','\r')]):
    h('H8%d-pip-line-%s'%(i,n),'requirements.txt: comment, U+%04X, requirement'%ord(c),{'requirements.txt':'# x'+c+L},'pip splits with str.splitlines() (pip/_internal/req/req_file.py, preprocess): what follows is a line',CR,TR)
h('H86-pip-include-name','requirements.txt: `-r weird.foo`',{'requirements.txt':'-r weird.foo\n','weird.foo':L},'pip reads any name',{'requirements.txt':'-r requirements-x.txt\n','requirements-x.txt':L},TR)
F='FROM nvidia/cuda:12.4.1-base-ubuntu22.04\n'; RN='RUN pip install torch==1.13.1+cu116\n'; TD='local-version-not-on-pypi'; CD={'Dockerfile':F+RN}
h('H87-docker-pip-r-name','Dockerfile: COPY weird.foo, pip install -r weird.foo',{'Dockerfile':F+'COPY weird.foo .\nRUN pip install -r weird.foo\n','weird.foo':L},'docker build and pip take it',{'Dockerfile':F+'COPY requirements.txt .\nRUN pip install -r requirements.txt\n','requirements.txt':L},TR)
h('H88-docker-heredoc-copy','COPY <<EOF /r.txt; pip install -r /r.txt',{'Dockerfile':F+'COPY <<EOF /r.txt\ntorch==1.13.1+cu116\nEOF\nRUN pip install -r /r.txt\n'},'Dockerfile reference, "Here-documents"',CD,TD)
h('H89-docker-command-substitution','RUN x=$(pip install torch==…)',{'Dockerfile':F+'RUN x=$(pip install torch==1.13.1+cu116)\n'},'POSIX command substitution runs it',CD,TD)
h('H90-compose-dockerfile-name','Compose build: dockerfile: weird.build',{'compose.yaml':'services:\n  s:\n    build: {context: ., dockerfile: weird.build}\n','weird.build':F+RN},'Compose builds from any name; not counted, not told',{'compose.yaml':'services:\n  s:\n    build: {context: ., dockerfile: x.Dockerfile}\n','x.Dockerfile':F+RN},TD)
h('H91-compose-dockerfile-inline','Compose build: dockerfile_inline',{'compose.yaml':'services:\n  s:\n    build:\n      context: .\n      dockerfile_inline: |\n        '+F+'        '+RN},'Compose build specification, dockerfile_inline',CD,TD)
DEV='deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, device_ids: ["0"], capabilities: [gpu]}]}}}'; TC2='compose-count-and-device-ids'
SV='services:\n  b:\n    image: x\n    '+DEV+'\n'
h('H92-compose-include-name','Compose include: [g.txt]',{'compose.yaml':'include: [g.txt]\nservices: {s: {image: x}}\n','g.txt':SV},'Compose reads any name',{'compose.yaml':'include: [g.yaml]\nservices: {s: {image: x}}\n','g.yaml':SV},TC2)
h('H93-compose-extends-name','Compose extends: {file: base.txt}',{'compose.yaml':'services:\n  s:\n    extends: {file: base.txt, service: b}\n','base.txt':SV},'as H92',{'compose.yaml':'services:\n  s:\n    extends: {file: base.yaml, service: b}\n','base.yaml':SV},TC2)
TF='resource "kubernetes_pod" "p" {\n  %s\n  metadata { name = "bad" }\n  spec {\n    container {\n      name = "c"\n      image = "x"\n      resources {\n        requests = { "nvidia.com/gpu" = 2 }\n        limits = { "nvidia.com/gpu" = 1 }\n      }\n    }\n  }\n}\n'
h('H94-tf-json','main.tf.json',{'main.tf.json':'{"resource":{"kubernetes_pod":{"p":{"metadata":{"name":"bad"},"spec":{"container":{"name":"c","image":"x","resources":{"requests":{"nvidia.com/gpu":2},"limits":{"nvidia.com/gpu":1}}}}}}}}'},'Terraform reads *.tf.json ("JSON configuration syntax"); gpulint says linted',{'main.tf':TF%''})
h('H95-tf-autovars-json','x.auto.tfvars.json switches the resource on',{'main.tf':'variable "on" { default = false }\n'+TF%'count = var.on ? 1 : 0','x.auto.tfvars.json':'{"on": true}\n'},'Terraform reads *.auto.tfvars.json by itself',{'main.tf':'variable "on" { default = false }\n'+TF%'count = var.on ? 1 : 0','x.auto.tfvars':'on = true\n'})
h('H96-tf-manifest-file','kubernetes_manifest: yamldecode(file("bad.txt"))',{'main.tf':'resource "kubernetes_manifest" "p" {\n  manifest = yamldecode(file("${path.module}/bad.txt"))\n}\n','bad.txt':BAD},'Terraform reads any name; the file is in the repository',{'main.tf':'resource "kubernetes_manifest" "p" {\n  manifest = yamldecode(file("${path.module}/bad.yaml"))\n}\n','bad.yaml':BAD})
# ---------------------------------------------------------------- injection, disclosure, writing
EV='\\n::error::pwned'; INJ=[]; LEAK=[]
def j(id,title,files,args): INJ.append((id,title,files,args))
RUL='id: evil-rule\npack: evil\nseverity: error\napplies_to: container\nforbid: "true"\nmessage: "%s"\nhelp: "%s"\nwhy: "%s"\nreferences: ["%s"]\nexamples: []\n'
CMX='apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  a: |\n    ::error::pwned\n    ##[error]x\n  b: "\\e[31m\\u202e"\n'
j('I01-render-chart','`render` prints the documents of a chart',{**CH,'c/templates/a.yaml':CMX},['render','c'])
j('I02-render-kustomization','`render` prints those of a kustomization',{'k/kustomization.yaml':'resources: [a.yaml]\n','k/a.yaml':CMX},['render','k'])
j('I03-template-fail','`fail` with line ends, escapes',{**CH,'c/templates/a.yaml':'{{ fail "x\\n::error::pwned\\u001b[31m##[error]" }}'},['check'])
j('I04-template-regex-error','error text of a regex draws the pattern over several lines',{**CH,'c/templates/a.yaml':'x: {{ regexMatch "(\\n::error::x##[a" "y" }}'},['check'])
j('I05-explain-pack','`explain` of a rule of the repository',{'pk/r.yaml':RUL%('m'+EV,'h'+EV,'w'+EV+'\\n##[error]x\\u001b]8;;x','x'+EV)},['explain','--rules','pk','evil-rule'])
j('I06-test-pack','`test` of a pack of the repository',{'pk/r.yaml':RUL.replace('examples: []','examples:\n- fires:\n    "a\\n::error::p.yaml": |\n      ::error::q\n  because: "b\\n::error::z##[error]"')%('m','h','w','x')},['test','pk'])
j('I07-rule-message-ideographic','message and help of a rule: line end, U+3000, `::`',{'a.yaml':BAD,'pk/r.yaml':RUL%('m\\n\\u3000::error::1','h\\n\\u00a0::error::2','w','x'),'.gpulint.yaml':'packs: [pk]\n'},['check'])
j('I08-hidden-joiners','`:` soft hyphen `:error::`, `#` word joiner `#[`',{'a.yaml':BAD.replace('name: c','name: "c\\n:\\u00ad:error::x #\\u2060#[error]y"').replace('bad','"b\\n:\\u200b:error::x"')},['check'])
j('I09-azure-vso','Azure DevOps `##vso[task.setvariable]` in name and source',{'##vso[task.setvariable variable=x]y.yaml':BAD.replace('limits: {nvidia.com/gpu: 1}}','limits: {nvidia.com/gpu: 1}} # ##vso[task.setvariable variable=PATH]x')},['check'])
j('I10-facts','`facts` of hostile names',{'a.yaml':BAD.replace('{name: bad}','{name: "b\\n::error::x", annotations: {"\\u2028##[error]": "\\u001b[31m\\u202e\\u200b"}}'),'##[error]\u202e\x1b[31m.yaml':BAD},['facts','.'])
j('I11-sarif-values','SARIF of hostile names',{'##[error]\u202e.yaml':BAD.replace('name: c','name: "::error:: ##[error]\\u202e\\u2028\\u0085\\u200b"')},['check','--format','sarif'])
j('I12-config-errors','unknown rule id with line ends in .gpulint.yaml',{'a.yaml':BAD,'.gpulint.yaml':'rules: {"x\\n::error::p##[y": off}\n'},['check'])
j('I13-parse-errors','syntax errors of TOML, HCL, requirements, Dockerfile at hostile text',{'pyproject.toml':'[a]\nb = ::error::x\n##[error]\n','requirements.txt':'::error::x\n##[error]\n==\n','main.tf':'::error::x {\n','Dockerfile':'::error::x\nRUN ##[x\n'},['check'])
j('I14-schema-error','values.schema.json: error text with the value',{**CH,'c/values.yaml':'a: "x\\n::error::v##[y\\u202e"\n','c/values.schema.json':'{"properties":{"a":{"enum":["\\n::error::p"]}}}','c/templates/a.yaml':BAD},['check'])
j('I15-directory-names','directories `::error::d\\n::error::e`, archives with such names',{'::error::d\n::error::e/\u2028::error::f/a.yaml':BAD,'##/[error]/a.yaml':BAD,**CH,'c/charts/\n::error::d##[x.tgz':b'nope'},['check'])
j('I16-kustomization-errors','kustomization: hostile names of resources and fields',{'k/kustomization.yaml':'"bad\\n::error::k##[x": 1\nresources: ["x\\n::error::p##[y"]\n'},['check'])
j('I17-sarif-embedded-link','SARIF 3.11.6: `[click](https://…)` in a message is a link',{'a.yaml':'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: "[click](https://evil.example)"}\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}\n'},['check','--format','sarif'])
def l(id,title,files,links,args=('check','--show-unknown')): LEAK.append((id,title,files,links,args))
gi=BAD.replace('name: bad','name: "{{ .Values.img }}"')
l('D01-dotenv-link','.env is a link outside, used in device_ids',{'compose.yaml':'services:\n  s: {image: "x:${N}", deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, device_ids: ["${N}"], capabilities: [gpu]}]}}}}\n'},{'.env':'@/s.env'})
l('D02-values-link-chain','values.yaml is a link to a link to a link outside',{'c/Chart.yaml':CH['c/Chart.yaml'],'c/templates/a.yaml':gi},{'c/values.yaml':'../v1.yaml','v1.yaml':'v2.yaml','v2.yaml':'@/vals.yaml'})
l('D03-values-dotdot-through-link','values.yaml -> up/../../outside',{'c/Chart.yaml':CH['c/Chart.yaml'],'c/templates/a.yaml':gi},{'c/values.yaml':'../up/../../outside/vals.yaml','up':'.'})
l('D04-files-get-directory-link','.Files.Get through a linked directory',{**CH,'c/templates/a.yaml':BAD.replace('bad','{{ .Files.Get "q/t.tpl" }}')},{'c/q':'@'})
l('D05-files-get-environ','.Files.Get of a link to /proc/self/environ',{**CH,'c/templates/a.yaml':BAD.replace('bad','{{ .Files.Get "e" | quote }}')},{'c/e':'/proc/self/environ'})
l('D06-tf-file-directory-link','Terraform file() and a module through a linked directory, absolute names',{'main.tf':'resource "aws_instance" "x" {\n  instance_type = file("q/t.tpl")\n}\nresource "aws_instance" "y" {\n  instance_type = file("@/t.tpl")\n}\nmodule "m" {\n  source = "./q/tf"\n}\n'},{'q':'@'})
l('D07-kust-link','kustomization: resources and patches through links, absolute names',{'k/kustomization.yaml':'resources: [q/s.yaml, g.yaml, "@/s.yaml"]\npatches: [{path: p.yaml, target: {kind: Pod}}]\n','k/g.yaml':BAD},{'k/q':'@','k/p.yaml':'@/s.yaml'})
l('D08-deepspeed-model-config','--deepspeed and model directory outside',{'a.yaml':BAD+'    command: [deepspeed, t.py, --deepspeed, "@/ds.json"]\n','b.yaml':BAD+'    command: [vllm, serve, "@"]\n'},{},('facts','.'))
l('D09-requirements-link','-r of a link and of an absolute name',{'requirements.txt':'-r l.txt\n-r @/req.txt\n'},{'l.txt':'@/req.txt'},('facts','.'))
l('D10-tfvars-link','terraform.tfvars is a link outside',{'main.tf':'variable "N" {}\nresource "aws_instance" "x" {\n  instance_type = var.N\n}\n'},{'terraform.tfvars':'@/n.tfvars'},('facts','.'))
l('D11-schema-ref','values.schema.json: $ref to a file outside',{**CH,'c/values.schema.json':'{"$ref":"file://@/ds.json"}','c/templates/a.yaml':BAD},{})
l('D12-subchart-link','charts/d is a link to a chart outside',{**CH},{'c/charts/d':'@/d','c/templates':'@/d/templates'},('render','c'))
# ---------------------------------------------------------------- running
TOLD={'file-not-linted','syntax-error','template-error','kustomization-error','internal-error'}
def make(name,files,links):
    d=os.path.join(OUT,name).encode(); shutil.rmtree(d,ignore_errors=True); os.makedirs(d)
    for p,c in files.items():
        fp=os.path.join(d,p.encode('utf8','surrogateescape')); os.makedirs(os.path.dirname(fp),exist_ok=True)
        open(fp,'wb').write(c if isinstance(c,bytes) else c.encode('utf-8','surrogatepass'))
    for p,t in links.items():
        fp=os.path.join(d,p.encode()); os.makedirs(os.path.dirname(fp),exist_ok=True); os.symlink(t.encode(),fp)
    return d.decode()
def run(args,cwd,env=None):
    def pre():
        resource.setrlimit(resource.RLIMIT_AS,(2<<30,2<<30)); resource.setrlimit(resource.RLIMIT_CPU,(40,41)); resource.setrlimit(resource.RLIMIT_CORE,(0,0))
    with tempfile.TemporaryFile() as o, tempfile.TemporaryFile() as e:
        p=subprocess.Popen([BIN]+list(args),cwd=cwd,stdout=o,stderr=e,stdin=subprocess.DEVNULL,preexec_fn=pre,env=env)
        t=threading.Timer(60,p.kill); t.start(); _,st,ru=os.wait4(p.pid,0); t.cancel(); p.returncode=os.waitstatus_to_exitcode(st)
        o.seek(0); e.seek(0); return p.returncode,o.read(),e.read(),ru.ru_utime+ru.ru_stime,ru.ru_maxrss//1024
def errors(out):
    try: return {(x['rule'],x['severity']) for x in json.loads(out)['diagnostics']}
    except Exception: return None
def hiding(c):
    id,title,files,why,control,rule,links,args=c
    d=make('control',{**control,**OKF},{}); rc,o,e,_,_=run(['check','--format','json',*args],d); f=errors(o)
    if f is None or rule not in {a for a,_ in f}: return None,'control does not give '+rule,0,0
    d=make('hidden',{**files,**OKF},links); rc,o,e,cpu,rss=run(['check','--format','json',*args],d); f=errors(o)
    if rc not in (0,1): return False,f'exit {rc} {e[-100:]!r}',cpu,rss
    if f is None: return False,'no report',cpu,rss
    if rule in {a for a,_ in f}: return True,'found',cpu,rss
    told=[a for a,s in f if a in TOLD and s=='error']
    if told and rc==1: return True,'told: '+','.join(told),cpu,rss
    fs=json.loads(o)['files']; say='; '.join([s['reason'] for s in fs['skipped']][:2]+[f"excluded: {x['by']} {x['count']}" for x in fs['excluded']]+[n['note'] for n in fs['notes']][:1]+[a+' ('+s+')' for a,s in f])
    return False,f'exit {rc}, {fs["linted"]} of {fs["seen"]} linted'+(f'; only: {say}' if say else ', nothing said'),cpu,rss
def growth(c):
    id,title,cls,mk,n,args,links=c; r=[]
    for k in (n,2*n):
        files=mk(k); lk={}
        for a,b in links.items(): lk.update({a%i:b for i in range(k)})
        size=sum(len(x) if isinstance(x,bytes) else len(x.encode('utf8','surrogatepass')) for x in files.values())
        d=make('growth',files,lk); rc,o,e,cpu,rss=run([*args,'--jobs','2'],d); r.append((size,rc,cpu,rss))
        why=None
        if rc not in (0,1,2): why=f'exit {rc} {e[-60:].decode("utf8","replace").strip()!r}' if rc!=-9 and rc!=-24 else 'stopped (60 s of wall or 40 s of CPU)'
        elif b'panicked' in e or b'panicked' in o: why='panic'
        elif size<=1.1*2**20 and cpu>10: why='more than 10 s'
        elif size<=1.1*2**20 and rss>300: why='more than 300 MB'
        if why: break
    if not why and r[1][2]>0.6 and r[1][2]/max(r[0][2],.01)>2.8: why='quadratic'
    return not why,(why or 'bounded')+': '+', '.join(f'{s//1024} KiB {c:.1f} s {m} MB exit {x}' for s,x,c,m in r),r[-1][2],r[-1][3]
def signs(b):
    s=b.decode('utf8','replace'); bad=[]
    for x in s.split('\n'):
        if x.lstrip().startswith('::'): bad.append('line begins with ::')
        if '##[' in x or '##vso[' in x: bad.append('##[ or ##vso[')
    bad+=['U+%04X'%ord(c) for c in set(s) if unicodedata.category(c) in ('Cc','Cf','Zl','Zp') and c!='\n']
    return sorted(set(bad))
def injection(c):
    id,title,files,args=c; d=make('inj',files,{}); rc,o,e,cpu,rss=run(args,d)
    if rc not in (0,1,2): return False,f'exit {rc}',cpu,rss
    bad=signs(o)+signs(e)
    if id.startswith('I17') and re.search(rb'(?<!\\)\[click(?<!\\)\]\(https',o): bad.append('embedded link')
    return not bad,'; '.join(bad) or f'clean (exit {rc}, {len(o)+len(e)} bytes)',cpu,rss
def leak(c):
    id,title,files,links,args=c; out=OUT+'/outside'; at=lambda x:x.replace('@',out) if isinstance(x,str) else x
    d=make('leak',{k:at(v) for k,v in files.items()},{k:at(v) for k,v in links.items()}); bad=[]; C=R=0
    for a in {tuple(args),('check','--show-unknown'),('check','--format','json'),('facts','.')}:
        rc,o,e,cpu,rss=run(a,d,{'SECRET':SECRET,'HOME':'/'}); C+=cpu; R=max(R,rss)
        if SECRET.encode() in o+e: bad.append('leaked by '+' '.join(a))
        if rc not in (0,1,2): bad.append(f'exit {rc}')
    return not bad,'; '.join(bad) or 'nothing shown',C,R
def write(kind):
    out=OUT+'/outside'; before=sorted(os.listdir(out)); d=make('w',{'a.yaml':BAD,'sub/x':''},{'reports':out,'sub/r.json':out+'/s.env'} )
    C=R=0; bad=[]
    for a in (['--output','reports/x.sarif'],['--output','sub/r.json'],['--output','reports/../sub/../reports/y.sarif']):
        rc,o,e,cpu,rss=run(['check','--format','sarif',*a],d); C+=cpu; R=max(R,rss)
    if sorted(os.listdir(out))!=before: bad.append('written outside: '+','.join(set(os.listdir(out))-set(before)))
    if open(out+'/s.env').read()!='N='+SECRET+'\n': bad.append('overwrote a file outside')
    return not bad,'; '.join(bad) or f'refused (exit {rc})',C,R
SLOW=set('G33 G41 G43 G45 G60 G61 G62 G70 G72 G81 G83 G85 G109 G112 G116 G153'.split())
def main():
    o=OUT+'/outside'
    for p,c in {'s.env':f'N={SECRET}\n','n.tfvars':f'N = "{SECRET}"\n','s.yaml':BAD.replace('bad',SECRET),'vals.yaml':f'img: {SECRET}\n','ds.json':'{"zero_optimization":{"stage":3},"x":"%s"}'%SECRET,'t.tpl':SECRET,'d/templates/a.yaml':BAD.replace('bad',SECRET),'d/Chart.yaml':'apiVersion: v2\nname: d\nversion: 1.0.0\n','req.txt':f'torch==1.0+{SECRET}\n','config.json':'{"model_type":"%s"}'%SECRET,'tf/main.tf':f'resource "aws_instance" "{SECRET}" {{\n  instance_type="p5.48xlarge"\n}}\n'}.items():
        os.makedirs(os.path.dirname(o+'/'+p),exist_ok=True); open(o+'/'+p,'w').write(c)
    want=sys.argv[2:]; keep='--keep' in want; slow='--slow' in want; want=[w for w in want if not w.startswith('--')]
    cases=[(c[0],'hiding',c[1],hiding,c) for c in HIDE]+[(c[0],'injection',c[1],injection,c) for c in INJ]+[(c[0],'disclosure',c[1],leak,c) for c in LEAK]+[('W01-output-through-links','write','--output through a linked directory and onto a linked file',write,0)]+[(c[0],c[2],c[1],growth,c) for c in GROW]
    good=total=0; bad=[]
    for id,cls,title,f,c in cases:
        if want and not any(id.startswith(w) for w in want): continue
        if not want and not slow and id.split('-')[0] in SLOW: continue
        try: ok,why,cpu,rss=f(c)
        except OSError as e: ok,why,cpu,rss=None,f'not made here: {e}',0,0
        if ok is None: print(f'void {id:38} {cls:10} {title}: {why}',flush=True); continue
        total+=1; good+=ok; bad+=[] if ok else [id]
        print(f"{'held' if ok else 'FELL'} {id:38} {cls:10} {cpu:5.1f} s {rss:5} MB  {title}: {why}",flush=True)
    if keep: print(OUT)
    else: shutil.rmtree(OUT,ignore_errors=True)
    if bad: print('fell:',' '.join(bad))
    print(f'{good} of {total} held'); sys.exit(good!=total)
main()
