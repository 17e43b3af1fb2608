//! The release of the engine that a container launches, what it is told that not every GPU can run, and its login.

use crate::catalog;
use crate::facts::{Container, EnvVar, Image, Launch, Setting, Software, Training, Workload};
use crate::known::{Fact, Known, Why};
use crate::version::Version;

/// Fills `launch.version`, `settings` and the login of every container.
pub fn link(workload: &mut Workload) {
    for pod in &mut workload.pods {
        for container in pod.containers.iter_mut().chain(&mut pod.init_containers) {
            if let Some(launch) = &mut container.launch {
                launch.version = release(launch, &container.image, container.software.as_deref());
            }
            container.settings = settings(container);
            container.login_off = login_off(container);
            container.sample_key = sample_key(container);
            if container.devices.is_empty() {
                container.devices =
                    container.env.get("CUDA_VISIBLE_DEVICES").map(|variable| listed(variable)).unwrap_or_default();
            }
        }
    }
}

/// What is installed says it, else the tag of the publisher's image.
fn release(launch: &Launch, image: &Image, software: Option<&Software>) -> Fact<Version> {
    let unstated = || Fact::unknown(Why::NotStated("the release of the engine".into()), launch.span);
    let Some(engine) = launch.engine.get() else { return unstated() };
    let installed = software.and_then(|software| software.packages.get(engine)).map(|package| &package.version);
    // What is built on the publisher's image holds what that does.
    let base = image.build.as_ref().map(|build| &build.base).filter(|base| is_tagged_by_release(base, engine));
    let image = base.unwrap_or(image);
    match installed.filter(|version| !version.is_absent()) {
        Some(version) => version.clone(),
        None if is_tagged_by_release(image, engine) => image.tag.clone().and_then(|tag| match Version::of_tag(&tag) {
            Some(version) => Known::Value(version),
            None => Known::Unknown(Why::NotStated("the release of the engine".into())),
        }),
        None => unstated(),
    }
}

/// The elements of a variable's list.
fn listed(variable: &EnvVar) -> Vec<Fact<String>> {
    let text = variable.value.get().map_or("", String::as_str);
    text.split(',')
        .filter(|part| !part.is_empty())
        .map(|part| Fact::value(part.to_owned(), variable.value.span))
        .collect()
}

/// Everything that the launch, the training run and the environment state of this kind.
fn settings(container: &Container) -> Vec<Setting> {
    let serving = container.launch.iter().flat_map(|launch| of_launch(launch));
    let training = container.training.iter().map(|training| of_training(training));
    serving.chain(training).chain(forced_attention(container)).filter(|setting| !setting.value.is_absent()).collect()
}

/// A variable decides for whatever starts its engine in the container.
fn forced_attention(container: &Container) -> Option<Setting> {
    let stated = |server: catalog::Server| Some((server.engine, &container.env.get(server.attention_env()?)?.value));
    let (engine, value) = catalog::servers().find_map(stated)?;
    let launched = container.launch.as_ref().filter(|launch| launch.engine.get().is_some_and(|name| name == engine));
    let unstated = || Fact::unknown(Why::NotStated(format!("the release of {engine}").into()), value.span);
    let release = launched.map_or_else(unstated, |launch| launch.version.clone());
    let engine = Fact::value(engine.to_owned(), value.span);
    Some(setting((engine, release), "attention_backend", value.clone().map(|number| format!("flash_attn_{number}"))))
}

/// What switches a login off: a variable of any server, an option of the one that is launched, unless a credential is
/// stated beside it.
fn login_off(container: &Container) -> Fact<String> {
    let engine = container.launch.as_ref().and_then(|launch| launch.engine.get());
    let option = |server: &catalog::Server, name: &str| {
        let launched = container.launch.as_ref().filter(|_| engine.is_some_and(|engine| engine == server.engine));
        launched.and_then(|launch| launch.flags.get(name))
    };
    let stated = |server: &catalog::Server, name: &str| {
        option(server, name).or(container.env.get(name).map(|variable| &variable.value)).cloned()
    };
    let off = |server: catalog::Server| {
        let guarded = |name: &str| {
            stated(&server, name)
                .is_some_and(|fact| fact.is_unknown() || fact.get().is_some_and(|text| !text.is_empty()))
        };
        if server.auth_flags().chain(server.auth_envs()).any(guarded) {
            return None;
        }
        server.login_off().filter_map(|written| written.split_once('=')).find_map(|(name, value)| {
            let fact =
                stated(&server, name).filter(|fact| fact.get().is_some_and(|text| text.eq_ignore_ascii_case(value)))?;
            let mut off = fact.map(|text| format!("{name}={text}"));
            // An empty value stands nowhere; the option without it does.
            let words =
                container.launch.iter().flat_map(|launch| &launch.words).filter(|_| off.span.start == off.span.end);
            let mut options =
                words.filter(|word| word.get().is_some_and(|w| w.trim_start_matches('-').starts_with(name)));
            off.span = options.next().map_or(off.span, |word| word.span);
            Some(off)
        })
    };
    catalog::servers().find_map(off).unwrap_or(Fact::absent(container.span))
}

/// A credential as the documentation of its server shows it.
fn sample_key(container: &Container) -> Fact<String> {
    let shown = |server: catalog::Server| {
        let mut stated = server.auth_envs().filter_map(|name| container.env.get(name)).map(|variable| &variable.value);
        stated.find(|fact| fact.get().is_some_and(|key| server.sample_keys().any(|sample| sample == key))).cloned()
    };
    catalog::servers().find_map(shown).unwrap_or(Fact::absent(container.span))
}

fn of_launch(launch: &Launch) -> impl Iterator<Item = Setting> + use<'_> {
    let stated = [
        ("dtype", launch.dtype.clone()),
        ("kv_cache_dtype", launch.kv_cache_dtype.clone()),
        ("attention_backend", launch.attention_backend.clone()),
        ("quantization", quantization(launch)),
    ];
    stated.into_iter().map(|(name, value)| setting((launch.engine.clone(), launch.version.clone()), name, value))
}

/// The method as stated, else how the model is published. Weights of 4 bits under activations of 16 have kernels of their own.
fn quantization(launch: &Launch) -> Fact<String> {
    let model = launch.model.get().map_or("", String::as_str);
    let of_model = |name: String| match catalog::published_quantization(&name) {
        Some(method) => Known::Value(method),
        None => Known::Absent,
    };
    let published = || Fact::watched(|| launch.model.clone().and_then(of_model));
    let stated = launch.quantization.clone().or(published);
    let w4a16 = model.to_lowercase().contains("w4a16");
    stated.map(|method| if w4a16 && method == "compressed-tensors" { format!("{method}-w4a16") } else { method })
}

/// Numbers that a GPU has no units for are emulated in training, slowly; kernels of attention are not.
fn of_training(training: &Training) -> Setting {
    let value = training.attention.clone();
    let release = Fact::unknown(Why::NotStated("the release of transformers".into()), value.span);
    setting((Fact::value("transformers".to_owned(), value.span), release), "attention_backend", value)
}

fn setting((engine, release): (Fact<String>, Fact<Version>), name: &str, value: Fact<String>) -> Setting {
    let name = Fact::value(name.to_owned(), value.span);
    Setting { span: value.span, perhaps: None, engine, release, name, value }
}

fn is_tagged_by_release(image: &Image, engine: &str) -> bool {
    let name = image.registry.get().zip(image.repository.get());
    name.is_some_and(|(registry, repository)| {
        catalog::is_tagged_by_release(&format!("{registry}/{repository}"), engine)
    })
}

#[cfg(test)]
mod tests {
    use super::is_tagged_by_release;
    use crate::facts::Image;
    use crate::known::Fact;
    use crate::source::{SourceId, Span};
    use crate::version::Version;

    #[test]
    fn tags_of_other_publishers_count_releases_of_their_own() {
        let span = Span::new(SourceId(0), 0..0);
        let tagged = |registry: &str, repository: &str| {
            let mut image = Image::blank(span);
            image.registry = Fact::value(registry.to_owned(), span);
            image.repository = Fact::value(repository.to_owned(), span);
            is_tagged_by_release(&image, "vllm")
        };
        assert!(tagged("docker.io", "vllm/vllm-openai"));
        assert!(tagged("mirror.example.com", "docker/vllm/vllm-openai"));
        assert!(!tagged("docker.io", "lmcache/vllm-openai"));
        assert!(!tagged("docker.io", "lmsysorg/sglang"), "of another engine");
    }

    #[test]
    fn a_tag_is_a_release_when_it_starts_with_one() {
        let read = |tag| Version::of_tag(tag).map(|version| version.to_string());
        assert_eq!(read("v0.11.0").as_deref(), Some("v0.11.0"));
        assert_eq!(read("24.05-py3").as_deref(), Some("24.05"));
        assert_eq!(read("v0.11.0@sha256:72c0").as_deref(), Some("v0.11.0"));
        assert_eq!(read("server-cuda-b9279").as_deref(), Some("9279"));
        for other in ["latest", "nightly-cu124", "86-1.5", "sha-1f2e"] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
