//! What protects data: where it is kept, the keys that encrypt it, the connections that it goes through.

use super::value::entities;
use super::{DataClass, Labels, StoreRole};
use crate::known::Fact;
use crate::parse::Raw;
use crate::version::Version;

entities! {
    /// Where data is kept, or who may reach it, in any cloud: a disk, a file system, a bucket, a database, a StorageClass. A machine with several disks has several.
    Store {
        /// The type of the resource or the kind of the object that states it.
        kind: Fact<String>,
        /// Its name in its file.
        name: Fact<String>,
        /// What it is called: in its file, in its cloud, or by the reference that stands for that.
        names: Vec<Fact<String>>,
        /// What it is.
        role: Fact<StoreRole>,
        /// Whether what it keeps is encrypted: as stated, else as its cloud does when nothing is said.
        encrypted: Fact<bool>,
        /// The tags or labels that its provider gives to all that it makes.
        default_tags: Labels,
        /// The type of the resource that encrypts all of its kind in an account, where the cloud has one.
        switch: Fact<String>,
        /// Who may read it, as stated.
        access: Fact<String>,
        /// Whether that is everyone.
        public: Fact<bool>,
        /// The class of data that its labels or tags put it into.
        data_class: Option<DataClass>,
        /// The resource or document as written.
        object: Option<Raw>,
    }

    /// A key of a key management service.
    Key {
        /// The type of the resource that states it.
        kind: Fact<String>,
        /// Its name in its file.
        name: Fact<String>,
        /// Whether the service can rotate a key of this sort by itself.
        rotatable: Fact<bool>,
        /// Whether it is rotated by itself: as stated, else as its cloud does when nothing is said.
        rotated: Fact<bool>,
        /// Days after which it is rotated, as stated.
        rotation_days: Fact<f64>,
    }

    /// Where something names a key of a key management service, in any cloud: a disk, a bucket, a database, a cluster, a StorageClass.
    KeyReference {
        /// The type of the resource or the kind of the object that states it.
        kind: Fact<String>,
        /// Its name in its file.
        name: Fact<String>,
        /// What names the key.
        key: Fact<String>,
        /// The form that such a name has in its cloud, of `key_forms`.
        form: Fact<String>,
        /// What the key encrypts, where that is a store.
        role: Fact<StoreRole>,
        /// The zone, the location or the region where the key is used: as stated, else that of the provider.
        place: Fact<String>,
    }

    /// What a security group or a firewall lets in.
    Opening {
        /// The type of the resource that states it.
        kind: Fact<String>,
        /// Its name in its file.
        name: Fact<String>,
        /// Ranges of ports that it lets through.
        ranges: Vec<PortRange>,
        /// From where: a range of addresses.
        source: Fact<String>,
        /// Whether that is everywhere.
        public: Fact<bool>,
    }

    /// A range of ports.
    PortRange {
        /// The first port.
        first: Fact<i64>,
        /// The last port.
        last: Fact<i64>,
    }

    /// What a machine runs when it starts, as the resource that makes it holds it.
    StartScript {
        /// The type of the resource or the kind of the pool.
        kind: Fact<String>,
        /// Its name in its file.
        name: Fact<String>,
        /// The text.
        text: Fact<String>,
    }

    /// Where clients connect with TLS: a listener, an account, an Ingress or a Gateway.
    Endpoint {
        /// The type of the resource or the kind of the object that states it.
        kind: Fact<String>,
        /// Its name in its file.
        name: Fact<String>,
        /// What says which versions of TLS it accepts: a version, a list of versions, a policy by its name.
        tls: Fact<String>,
        /// The oldest version of TLS that it accepts; SSL 3 reads as 0.3.
        tls_minimum: Fact<Version>,
        /// Which ciphers it accepts, as stated.
        ciphers: Fact<String>,
    }
}
