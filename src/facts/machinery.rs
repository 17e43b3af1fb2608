//! What stands below workloads: code that is compiled for GPUs, versions, images and machines that files name for others to
//! use, what devices are set to, and the runtimes of containers.

use super::value::entities;
use super::{Gpu, Image, Labels};
use crate::known::Fact;
use crate::version::Version;

entities! {
    /// GPU code that a command compiles, or a variable that says for what it is compiled, in any format that holds scripts or variables.
    Compilation {
        /// The file.
        path: Fact<String>,
        /// What states the architectures: CMAKE_CUDA_ARCHITECTURES, TORCH_CUDA_ARCH_LIST, gencode.
        option: Fact<String>,
        /// The architectures that it is compiled for, as written; those of nvcc's own options as a list: 80;90a.
        architectures: Fact<String>,
        /// Switches about GPUs that the build is given: GGML_CUDA is ON.
        switches: Labels,
    }

    /// A version of the software below frameworks that a file states in a variable, a key or a path: CUDA_VERSION=12.8.
    StatedVersion {
        /// The file.
        path: Fact<String>,
        /// The variable or the key.
        variable: Fact<String>,
        /// The software, as the catalog calls it: cuda, driver, rocm.
        software: Fact<String>,
        /// The version.
        version: Fact<Version>,
    }

    /// An image that a file names in a variable or in values, for something else to run.
    NamedImage {
        /// The variable or the key.
        variable: Fact<String>,
        /// The image.
        image: Image,
    }

    /// A machine type with GPUs, or an accelerator, that a file names in a variable or in values, for something else to ask for.
    NamedMachine {
        /// The variable or the key.
        variable: Fact<String>,
        /// The machine type, or the accelerator as its cloud calls it.
        machine: Fact<String>,
        /// The GPU that a variable about GPUs calls by its name, as in `gpu_model: GeForce RTX 4090`.
        gpu: Option<Gpu>,
    }

    /// What a command sets the GPUs of a machine to.
    DeviceSetting {
        /// The program: nvidia-smi, rocm-smi.
        program: Fact<String>,
        /// What is set, as the catalog calls it: persistence, ecc, mig, compute-mode.
        setting: Fact<String>,
        /// What it is set to, as written.
        state: Fact<String>,
    }

    /// How a runtime of containers is set up: a configuration of its daemon, or the command that writes one.
    ContainerRuntime {
        /// Whose configuration it is: docker, containerd, crio.
        program: Fact<String>,
        /// The runtime of containers that ask for none.
        default_runtime: Fact<String>,
        /// The runtimes that it defines, with their programs.
        runtimes: Labels,
        /// The command that runs a container with GPUs while the daemon has not read this yet: nothing starts it anew in between.
        used_before_restart: Fact<String>,
        /// What was started before this was there, and looks for it only then (k3s, rke2); nothing starts it anew behind.
        started_before: Fact<String>,
    }
}
