//! Devices that are claimed by Dynamic Resource Allocation.

use super::value::entities;
use crate::known::Fact;

entities! {
    /// A ResourceClaim, or a template of them: the devices that whoever uses it gets.
    DeviceClaim {
        /// ResourceClaim or ResourceClaimTemplate.
        kind: Fact<String>,
        /// Its name.
        name: Fact<String>,
        /// Its namespace.
        namespace: Fact<String>,
        /// What it asks for; alternatives follow each other.
        requests: Vec<DeviceRequest>,
        /// Accelerators among all of it, as many as are allocated together.
        gpus: Fact<i64>,
    }

    /// A DeviceClass as a file states it.
    DeviceClass {
        /// Its name.
        name: Fact<String>,
        /// The extended resource that stands for it in containers.
        extended_resource: Fact<String>,
        /// The driver of the devices that its selectors take.
        driver: Fact<String>,
        /// The `type` of the devices that its selectors take.
        devices: Fact<String>,
        /// The MIG profile that its selectors take.
        mig_profile: Fact<String>,
    }

    /// Devices of one class that a claim asks for.
    DeviceRequest {
        /// Its name; of an alternative `request/alternative`.
        name: Fact<String>,
        /// The request of which it is one alternative (firstAvailable).
        alternative_of: Fact<String>,
        /// Its DeviceClass.
        device_class: Fact<String>,
        /// How many: one where nothing is said, unknown where it takes all that a node has, none where it only looks at them.
        count: Fact<i64>,
        /// What is counted: gpu, mig-slice …; absent for devices that are no accelerators.
        device: Fact<String>,
        /// What one of them is called.
        device_name: Fact<String>,
        /// nvidia, amd, intel …
        gpu_vendor: Fact<String>,
        /// The product that its selectors ask for, as they name it.
        product: Fact<String>,
        /// The MIG profile that its selectors ask for.
        mig_profile: Fact<String>,
        /// Memory of each device that its selectors ask for at least, in bytes.
        min_memory_bytes: Fact<i64>,
    }
}
