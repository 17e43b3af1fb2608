//! Tasks, jobs and endpoints of clouds that run containers without Kubernetes.

use super::{All, Stated, referred};
use crate::extract::{ecs, sagemaker};
use crate::facts::{Facts, Workload};
use crate::known::Fact;

/// Reads what runs among the resources of a root.
pub fn read(all: &All<'_>, facts: &mut Facts) {
    for stated in &all.stated {
        facts.workloads.extend(match stated.kind.0 {
            "aws_ecs_task_definition" => {
                Some(ecs::task(stated.tree, stated.view, stated.view.get("family").string(), stated.span))
            }
            "aws_batch_job_definition" => {
                ecs::job(stated.tree, stated.view, stated.view.get("name").string(), stated.span)
            }
            "aws_sagemaker_endpoint_configuration" => endpoint(all, stated),
            _ => None,
        });
    }
}

fn endpoint(all: &All<'_>, stated: &Stated<'_>) -> Option<Workload> {
    let model = referred(all, stated, &["aws_sagemaker_model"], sagemaker::model_of(stated.view));
    let model = model.map(|model| all.stated[model].view);
    let (label, at) = stated.name;
    sagemaker::endpoint(stated.tree, (stated.view, model), (Fact::value(label.to_owned(), at), stated.span))
}
