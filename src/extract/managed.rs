//! Machines of managed training that configurations ask for: worker pools of jobs of Vertex AI, compute of Azure ML.

use super::machines;
use crate::facts::{Facts, InfraFormat};
use crate::known::Fact;
use crate::parse::{Tree, View};
use std::sync::Arc;

/// Where jobs of Vertex AI list their worker pools: the job itself, a request, a tuning job.
const WORKERS: [&str; 3] = ["workerPoolSpecs", "jobSpec.workerPoolSpecs", "trialJobSpec.workerPoolSpecs"];

/// Kinds of compute of Azure ML that are made of machines of its own.
const COMPUTE: [&str; 2] = ["amlcompute", "computeinstance"];

/// Reads the machines of a configuration, if its kind asks for any.
pub fn read(kind: &str, tree: &Arc<Tree>, view: View<'_>, facts: &mut Facts) {
    let (format, asked): (_, Vec<(String, View<'_>)>) = match kind {
        "VertexCustomJob" => {
            let workers = WORKERS.iter().flat_map(|path| view.path(path).items().collect::<Vec<_>>());
            (InfraFormat::VertexAi, workers.map(|worker| ("workerPoolSpec".to_owned(), worker)).collect())
        }
        "AzureMLCompute" => {
            let kind = view.get("type").string();
            let kind = kind.get().map(|kind| kind.to_lowercase()).filter(|kind| COMPUTE.contains(&kind.as_str()));
            (InfraFormat::AzureMl, kind.map(|kind| (kind, view)).into_iter().collect())
        }
        _ => return,
    };
    for (kind, view) in asked {
        let Some(mut pool) = machines::pool(tree, view, (&kind, &kind), view.place()) else { continue };
        pool.format = Fact::value(format, view.place());
        facts.pools.push(Arc::new(pool));
    }
}
