#!/usr/bin/env python3
"""Writes the rows of rules/catalog/key_references.csv that schemas of providers give: which argument of which resource names a key.

    tests/oracles/key_references.py CACHE

CACHE is a directory for the packages that schemas are read from (bindings of the CDK for Terraform, of Pulumi and of ROS, and the
schemas that cfn-lint holds). Rows from other sources stay, and no other row is made of what they are about. Services that nobody puts beside machines with GPUs are left out, and so are arguments that take a word in place of a key.
"""

import csv
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile

from terraform_bindings import FILE, Bindings, resource

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "rules", "catalog", "key_references.csv")
COLUMNS = ["type", "at", "form", "role", "place", "of_provider", "evidence", "source", "as_of"]
AS_OF = "2026-11-30"
# The registries of the packages that schemas are read from.
PACKAGES = ("https://www.npmjs.com/", "https://pypi.org/")

# What names a key, without regard to capitals and underscores.
KEY = re.compile(r"(awskms|kms|kmsmaster|encryption|customerencryption|diskencryption|systemdiskkms|encryptionprovider|bootdiskkms"
                 r"|cloud(disk)?encryption|tdeencryption|gcpkmsencryption|customermanaged|controlplanediskencryption|crypto"
                 r"|.*kms|.*keyvault|managedhsm)key(id|arn|name|selflink)?"
                 r"|.*diskencryptionsetid")
# Arguments whose names alone do not say so, by the ends of their paths.
OTHERS = re.compile(r"(encryptionconfig\.provider\.keyarn|databaseencryption\.keyname|kmsconfiguration\.keyid|ssekms\.keyid"
                    r"|awsebsdefaultkmskey\.keyarn|serversideencryption\.keyarn|machinelearningworkspace\.encryption\.keyid"
                    r"|aifoundry\.encryption\.keyid|defaultkmskeyname|vaultkeyid|cmkkeyid)$")
# What is no key of a service, or not always one.
NEVER = re.compile(r"aws_kms|AWS::KMS|DATASOURCE|alicloud_kms|google_kms|google_container_(aws|azure)|dkms|kmsencrypted|keytype|apigee|assured|raw_key"
                   r"|rsa_encrypted|enabled$|redshiftserverless|source_\w+_encryption_key"
                   r"|storage_bucket_object|key_details|xrc|xrr", re.I)
# Where the key is one of the place that something is copied or written to.
ELSEWHERE = re.compile(r"replica(?!tion_?group)|cross_?region|destination|distribution|trail|copy|export|inventory|offline|s3_?kms|output|capture"
                       r"|s3_?configuration|s3_?backup|workspace_settings|storage_lens|object|core_dump|automatic_?backup|s3_?destination"
                       r"|s3_?logging|result|logging|failure|dataproc|data_?lake|secondary|snapshot|instance_template", re.I)

AWS = re.compile(r"aws_(ami$|instance|launch_|spot_|ebs_|efs_|fsx_|s3|ecr_|ecs_|eks_|emr_cluster|elasticache_|memorydb_cluster|dynamodb_|db_instance$|rds_cluster"
                 r"|docdb_cluster|neptune_cluster|redshift_cluster$|opensearch_|elasticsearch_|cloudwatch_log_|sagemaker_|sns_|sqs_|secretsmanager_secret$"
                 r"|lambda_function|kinesis_(stream|firehose)|msk_cluster|backup_vault|cloudtrail|codebuild_|bedrock|imagebuilder_|sfn_|mwaa_|athena_|glue_sec)")
CLOUDFORMATION = re.compile(r"AWS::(EC2::(EC2Fleet|Instance|LaunchTemplate|Volume)|EFS|FSx|S3|S3Express|S3Tables|S3Vectors|ECR|ECS|EKS|EMR|ElastiCache|MemoryDB|DynamoDB"
                            r"|RDS::DB(Cluster|Instance)|DocDB|Neptune|Redshift|OpenSearchService|Elasticsearch|Logs::LogGroup|SageMaker|SNS|SQS|SecretsManager::Secret"
                            r"|Lambda::Function|KinesisFirehose|MSK|Backup|CloudTrail|CodeBuild|Bedrock|ImageBuilder|StepFunctions|MWAA|Athena)(::|$)")
GOOGLE = re.compile(r"google_(alloydb_cluster|artifact_registry|bigquery_(dataset|table)|bigtable_instance|cloud_run_v2|cloudfunctions2|colab|composer"
                    r"|compute_(disk|image|instance|instance_from_template|instance_template|region_disk|region_instance_template|snapshot)$|container_(cluster|node_pool)"
                    r"|dataflow_job|dataproc_cluster|filestore_instance|gke_backup|logging_project|lustre|memorystore|notebooks_instance|pubsub_topic|redis_"
                    r"|secret_manager|spanner_database|sql_database_instance|storage_bucket|vertex_ai|workbench|workflows)")
AZURE = re.compile(r"azurerm_(ai_|batch_account|cognitive_account|container_(group|registry)|cosmosdb_account|databricks_workspace|disk_encryption_set|image$|kubernetes_cluster"
                   r"|linux_virtual|machine_learning|managed_(disk|redis)|mongo_cluster|mssql_(server|database)|mysql_flexible|orchestrated|postgresql_flexible|redhat_openshift"
                   r"|shared_image_version|storage_(account|encryption_scope)|windows_virtual)")

# Resources of Alibaba Cloud and Oracle Cloud by what Pulumi calls them.
ALIBABA = {
    "cs/edgeKubernetes": "cs_edge_kubernetes", "cs/managedKubernetes": "cs_managed_kubernetes", "cs/nodePool": "cs_kubernetes_node_pool",
    "cs/serverlessKubernetes": "cs_serverless_kubernetes", "ecs/disk": "disk", "ecs/diskDefaultKmsKey": "ecs_disk_default_kms_key",
    "ecs/ecsDisk": "ecs_disk", "ecs/ecsInstanceSet": "ecs_instance_set", "ecs/ecsLaunchTemplate": "ecs_launch_template", "ecs/instance": "instance",
    "ecs/launchTemplate": "launch_template", "emrv2/cluster": "emrv2_cluster", "ess/scalingConfiguration": "ess_scaling_configuration",
    "kvstore/instance": "kvstore_instance", "log/store": "log_store", "mongodb/instance": "mongodb_instance",
    "mongodb/shardingInstance": "mongodb_sharding_instance", "nas/fileSystem": "nas_file_system", "oss/bucket": "oss_bucket",
    "oss/bucketObject": "oss_bucket_object", "oss/bucketReplication": "oss_bucket_replication",
    "oss/bucketServerSideEncryption": "oss_bucket_server_side_encryption", "polardb/cluster": "polardb_cluster", "rds/instance": "db_instance",
    "redis/tairInstance": "redis_tair_instance",
}  # fmt: skip
ORACLE = {
    "containerengine/cluster": "containerengine_cluster", "containerengine/nodePool": "containerengine_node_pool", "core/bootVolume": "core_boot_volume",
    "core/instance": "core_instance", "core/instanceConfiguration": "core_instance_configuration", "core/volume": "core_volume",
    "filestorage/fileSystem": "file_storage_file_system", "lustre/fileStorageLustreFileSystem": "lustre_file_storage_lustre_file_system",
    "objectstorage/bucket": "objectstorage_bucket",
}  # fmt: skip
ROS = ["cs", "ecs", "ess", "nas", "oss", "polardb", "rds", "redis", "sls"]


def plain(path):
    return path.replace("_", "").lower()


def names_a_key(kind, path):
    whole = f"{plain(kind)}.{plain(path)}"
    if NEVER.search(f"{kind}.{path}"):
        return False
    return bool(KEY.fullmatch(whole.rsplit(".", 1)[1]) or OTHERS.search(whole))


def arguments(schema, path=()):
    """What may be set in a resource: dotted paths."""
    for name, one in sorted(schema.get("properties", {}).items()):
        inner = one.get("items", one)
        if one.get("computed"):
            continue
        if isinstance(inner, dict) and inner.get("properties"):
            yield from arguments(inner, (*path, name))
        else:
            yield ".".join((*path, name))


def bindings(provider, release, wanted, cache):
    """The arguments of resources of a provider of Terraform, by its bindings."""
    texts = {}
    packed = Bindings(provider, release, cache).file
    for member in packed:
        found = FILE.fullmatch(member.name)
        own = found and f"{provider}_{found['of'].replace('-', '_')}"
        if found and not found["of_code"] and not found["of"].startswith("data-") and wanted.match(own):
            texts.setdefault(own, []).append(packed.extractfile(member).read().decode())
    for own, files in texts.items():
        yield own, list(arguments(resource("\n".join(files), "")))


def pulumi(package, release, known, prefix, cache):
    """The arguments of some resources of a provider, by its package for Pulumi."""
    name = f"{package.strip('@').replace('/', '-')}-{release}.tgz"
    if not os.path.exists(f"{cache}/{name}"):
        subprocess.run(["npm", "pack", "-s", f"{package}@{release}"], cwd=cache, check=True, stdout=subprocess.DEVNULL)
    with tarfile.open(f"{cache}/{name}") as packed:
        read = lambda file: packed.extractfile(f"package/{file}.d.ts").read().decode()
        inner, space, kind = {}, "", None
        for line in read("types/input").split("\n"):
            if found := re.match(r"export declare namespace (\w+) \{", line):
                space = found[1]
            elif found := re.match(r"\s*(?:export )?interface (\w+)", line):
                kind = inner.setdefault((space if line.startswith("    ") else "", found[1]), {})
            elif (found := re.match(r"\s+(\w+)\??: (.*);$", line)) and kind is not None:
                kind[found[1]] = found[2]

        def walk(properties, path, seen):
            for own, of in properties.items():
                here = (*path, re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), own))
                block = re.search(r"inputs\.(?:(\w+)\.)?(\w+)", of)
                block = block and (block[1] or "", block[2])
                if block in inner and block not in seen:
                    yield from walk(inner[block], here, {*seen, block})
                elif not block:
                    yield ".".join(here)

        for file, own in known.items():
            body = re.search(r"export interface \w+Args \{\n(.*?)\n\}", read(file), re.S)[1]
            yield f"{prefix}_{own}", list(walk(dict(re.findall(r"^    (\w+)\??: (.*);$", body, re.M)), (), set()))


def cloudformation(wanted):
    """The properties of resources of CloudFormation, as cfn-lint has them, and its release."""
    import cfnlint
    from cfnlint.data.schemas.providers.us_east_1 import types
    from cfnlint.version import __version__

    base = os.path.join(os.path.dirname(cfnlint.__file__), "data", "schemas", "resources")

    def walk(node, path, definitions, seen):
        while "$ref" in node:
            name = node["$ref"].rsplit("/", 1)[1]
            if name in seen:
                return
            node, seen = definitions.get(name, {}), {*seen, name}
        if "items" in node:
            yield from walk(node["items"], path, definitions, seen)
            return
        for own, one in node.get("properties", {}).items():
            yield from walk(one, (*path, own), definitions, seen)
        for either in (one for key in ("oneOf", "anyOf", "allOf") for one in node.get(key, [])):
            yield from walk(either, path, definitions, seen)
        of = node.get("type")
        if path and "properties" not in node and (of == "string" or isinstance(of, list) and "string" in of):
            yield ".".join(path)

    def each():
        for kind, own in types.items():
            if not wanted.match(kind):
                continue
            with open(f"{base}/{own}.json") as file:
                schema = json.load(file)
            decided = {path.removeprefix("/properties/").replace("/*", "").replace("/", ".") for path in schema.get("readOnlyProperties", [])}
            yield kind, [path for path in dict.fromkeys(walk(schema, (), schema.get("definitions", {}), frozenset())) if path not in decided]

    return each(), __version__


def ros(service, release, cache):
    """The properties of resources of ROS, by the package of its CDK."""
    name = f"ros_cdk_{service}-{release}-py3-none-any.whl"
    if not os.path.exists(f"{cache}/{name}"):
        subprocess.run(["pip", "download", "-q", "--no-deps", "-d", cache, f"ros-cdk-{service}=={release}"], check=True)
    with zipfile.ZipFile(f"{cache}/{name}") as wheel:
        inside = next(one for one in wheel.namelist() if one.endswith(".jsii.tgz"))
        packed = tarfile.open(fileobj=io.BytesIO(wheel.read(inside)))
    code = "\n".join(packed.extractfile(member).read().decode() for member in packed if member.name.endswith(".generated.js"))
    writers = re.findall(r"function (\w+)ToRosTemplate\(properties.*?\n\s+return \{\n(.*?)\n\s+\};\n\}", code, re.S)
    writers = {own: re.findall(r"^\s*'?(\w+)'?: (.*?),?$", body, re.M) for own, body in writers}

    def walk(writer, path, seen):
        for own, how in writers.get(writer, []):
            inner = [one for one in re.findall(r"(\w+)ToRosTemplate", how) if one in writers and one not in seen]
            for one in inner:
                yield from walk(one, (*path, own), {*seen, one})
            if not inner:
                yield ".".join((*path, own))

    for own, kind in re.findall(r'(Ros\w+)\.ROS_RESOURCE_TYPE_NAME = "([\w:]+)"', code):
        props = own[0].lower() + own[1:] + "Props"
        yield kind, list(walk(props, (), {props}))


def rows(found, source, form, places, of_provider):
    """The rows of some resources: where they name a key, and where they say their place."""
    for kind, paths in found:
        stated = " ".join(place for place in places if place in paths)
        for path in paths:
            if not names_a_key(kind, path):
                continue
            elsewhere = ELSEWHERE.search(f"{kind}.{path}")
            yield {
                "type": kind,
                "at": path,
                "form": form(path),
                "place": "" if elsewhere else stated,
                "of_provider": "true" if of_provider(stated) and not elsewhere else "",
                "evidence": "derived",
                "source": source,
                "as_of": AS_OF,
            }


def derived(cache):
    cdk = "https://www.npmjs.com/package/@cdktf/provider-{} {}"
    always, never = (lambda _: True), (lambda _: False)
    yield from rows(bindings("aws", "21.22.1", AWS, cache), cdk.format("aws", "21.22.1"), lambda _: "aws",
                    ["region", "availability_zone", "availability_zone_name"], always)
    # What states a location has one of its own; zones and regions are those of the provider where nothing is said.
    yield from rows(bindings("google", "16.12.1", GOOGLE, cache), cdk.format("google", "16.12.1"), lambda _: "google",
                    ["location", "region", "zone"], lambda stated: bool(stated) and "location" not in stated)
    yield from rows(bindings("azurerm", "14.23.1", AZURE, cache), cdk.format("azurerm", "14.23.1"),
                    lambda path: "azure-set" if path.endswith("disk_encryption_set_id") else "azure-key", [], never)
    yield from rows(pulumi("@pulumi/alicloud", "3.108.0", ALIBABA, "alicloud", cache), "https://www.npmjs.com/package/@pulumi/alicloud 3.108.0",
                    lambda _: "alibaba", ["zone_id", "availability_zone"], always)
    yield from rows(pulumi("@pulumi/oci", "4.20.0", ORACLE, "oci", cache), "https://www.npmjs.com/package/@pulumi/oci 4.20.0", lambda _: "oci", [], never)
    found, release = cloudformation(CLOUDFORMATION)
    yield from rows(found, f"https://pypi.org/project/cfn-lint {release} (schemas of CloudFormation)", lambda _: "aws",
                    ["AvailabilityZone", "AvailabilityZoneName"], never)
    for service in ROS:
        yield from rows(ros(service, "1.15.0", cache), f"https://pypi.org/project/ros-cdk-{service} 1.15.0", lambda _: "alibaba", ["ZoneId"], never)


def main(cache):
    with open(TABLE, encoding="utf-8") as file:
        before = list(csv.DictReader(file))
    roles = {row["type"]: row["role"] for row in before if row["role"]}
    out = {(row["type"], row["at"]): row for row in before if not row["source"].startswith(PACKAGES)}
    for row in derived(cache):
        out.setdefault((row["type"], row["at"]), {**row, "role": roles.get(row["type"], "")})
    with open(TABLE, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(out[key] for key in sorted(out))


if __name__ == "__main__":
    main(*sys.argv[1:])
