#!/usr/bin/env python3
"""Writes the examples of the providers' documentation, each as a root that pins the release that it documents.

    tests/oracles/terraform_examples.py CLONES TARGET [PROVIDER...]
    gpulint check --all-kinds TARGET

What is told of them is wrong in the example, or in schemas/terraform. CLONES is that of `terraform.py`.
"""

import os
import re
import sys

from terraform import Reader
from terraform_sources import PROVIDERS

CODE = re.compile(r"```(?:hcl|terraform|tf)\n(.*?)```", re.S)
PINNED = 'terraform {{\n  required_providers {{\n    {0} = {{\n      source  = "{1}"\n      version = "= {2}"\n    }}\n  }}\n}}\n'


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    clones, target, *names = sys.argv[1:]
    written = 0
    for provider in PROVIDERS:
        if not provider.clone or names and provider.name not in names:
            continue
        reader = Reader(provider, clones, "")
        for version, _, _ in reader.releases():
            for name in reader.names:
                for at, code in enumerate(CODE.findall(reader.page(name, version))):
                    directory = os.path.join(target, provider.name, version, f"{name}-{at}")
                    os.makedirs(directory, exist_ok=True)
                    pinned = "" if "required_providers" in code else PINNED.format(provider.prefix, provider.address.removesuffix("-beta"), version)
                    with open(os.path.join(directory, "main.tf"), "w", encoding="utf-8") as file:
                        file.write(pinned + code)
                    written += 1
    print(f"{written} examples")


if __name__ == "__main__":
    main()
