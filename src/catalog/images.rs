//! Image families and the grammars of their tags: what a repository and a tag tell of the content.

use super::drivers::min_driver;
use super::software::{Build, framework_build};
use super::table::{Patterned, Row, Table};
use super::tables::{
    ENGINE_IMAGES, FLOATING_TAGS, IMAGE_FAMILIES, IMAGE_FLAWS, IMAGE_MOVES, IMAGE_NEWEST, IMAGE_RELEASES, IMAGE_TAGS,
    IMAGE_TRAITS, NGC, REGISTRIES, TAG_WORDS, TEI_IMAGES,
};
use crate::version::Version;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::OnceLock;

/// What a repository and a tag tell of an image.
#[derive(Debug, Clone, Default)]
pub struct ImageInfo {
    /// Image family: nvidia/cuda, vllm/vllm-openai, aws-dlc.
    pub family: &'static str,
    /// What its code runs on: nvidia, amd, intel, google, aws, habana or cpu.
    pub accelerator: Option<&'static str>,
    /// CUDA, the major release alone when the tag says no more.
    pub cuda: Option<Version>,
    /// ROCm, of images for it that name it.
    pub rocm: Option<Version>,
    /// cuDNN, often the major release alone.
    pub cudnn: Option<Version>,
    /// TensorRT.
    pub tensorrt: Option<Version>,
    /// NGC release month.
    pub ngc: Option<Version>,
    /// base, runtime or devel.
    pub flavor: Option<String>,
    /// Distribution: ubuntu, amazonlinux, ubi.
    pub os: Option<String>,
    /// Its release.
    pub os_version: Option<Version>,
    /// Python.
    pub python: Option<Version>,
    /// Package that the image is made for: torch, tensorflow, vllm, tritonserver.
    pub framework: Option<&'static str>,
    /// Its release.
    pub framework_version: Option<Version>,
    /// torch in the image.
    pub torch: Option<Version>,
    /// Lowest compute capability that its GPU code runs on.
    pub min_compute_capability: Option<Version>,
    /// The only compute capabilities it runs on; empty when every newer one will do.
    pub only_compute_capabilities: Vec<Version>,
    /// Oldest driver that runs its CUDA (minor-version compatibility).
    pub min_driver: Option<Version>,
    /// Whether NVIDIA_REQUIRE_CUDA of its nvidia/cuda base refuses drivers that the base does not list.
    pub require_cuda: bool,
    /// Whether it brings cuda-compat for data-center GPUs under older drivers.
    pub forward_compat: bool,
    /// The build of its framework, where the catalog has a row.
    pub build: Option<Build>,
}

/// Why nothing is known of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unrecognised {
    /// The repository is of no family in the catalog.
    Repository,
    /// The tag does not follow the grammar of this family.
    Tag(&'static str),
}

/// Why a tag does not exist or what is broken in its image; no tag is written as `latest`. A mirror may keep what the
/// registry removed, so the repository is compared with its host. `Some(None)` for another tag of a repository with flaws.
pub fn image_flaw(repository: &str, tag: &str) -> Option<Option<String>> {
    static READ: OnceLock<Vec<Patterned>> = OnceLock::new();
    let tag = if tag.is_empty() { "latest" } else { tag };
    let of_repository = || tagged(&READ, &IMAGE_FLAWS).iter().filter(|t| t.row.text("repository") == repository);
    let flaw =
        of_repository().find(|t| t.is_about(tag)).inspect(|t| t.row.used()).map(|t| t.row.text("flaw").to_owned());
    let flaw = flaw.or_else(|| unreleased(repository, tag));
    let known = flaw.is_some() || of_repository().next().is_some();
    known.then_some(flaw)
}

/// Why a tag names no release, in families that tag every one: its minor release has none, or later patches and not this.
fn unreleased(repository: &str, tag: &str) -> Option<String> {
    let of_repository = IMAGE_RELEASES.rows().filter(|row| row.text("repository") == repository);
    let named = of_repository.filter_map(|row| {
        let (before, after) = row.text("tag").split_once("{release}")?;
        let release = tag.strip_prefix(before)?.strip_suffix(after)?;
        release.bytes().all(|b| b.is_ascii_digit() || b == b'.').then_some((row, release))
    });
    // Where several fit, the one that leaves the least says what the rest is.
    let (row, text) = named.min_by_key(|(_, release)| release.len())?;
    // Most tags are of a release, and need no more than that.
    if row.words("releases").any(|one| one == text) {
        return None;
    }
    let release = Version::parse(text)?;
    let all: Vec<Version> = row.words("releases").filter_map(Version::parse).collect();
    let whole = release.release().len() >= 3 && all.iter().all(|one| one.release().len() >= 3);
    let newest = row.version("until").or_else(|| all.iter().max().cloned())?;
    if !whole || release >= newest || row.version("since").is_none_or(|since| release < since) || all.contains(&release)
    {
        return None;
    }
    let line = release.release()[..2].to_vec();
    let mut of_line = all.iter().filter(|one| one.release().starts_with(&line)).peekable();
    let passed = of_line.peek().is_none() || of_line.any(|one| *one > release);
    passed.then(|| {
        row.used();
        let near: Vec<String> =
            all.iter().filter(|one| one.release().starts_with(&line)).map(|one| one.to_string()).collect();
        match near.is_empty() {
            true => format!("there is no release {text}"),
            false => format!("there is no release {text}; of {}.{} there are {}", line[0], line[1], near.join(", ")),
        }
    })
}

/// What became of the images of a repository: `frozen`, `gone`, `private` or `redirected`, with where they are now.
pub fn image_move(repository: &str, tag: &str) -> Option<(&'static str, Option<&'static str>)> {
    static READ: OnceLock<Vec<Patterned>> = OnceLock::new();
    let tag = if tag.is_empty() { "latest" } else { tag };
    let about = |found: &&Patterned| {
        let pattern = found.row.text("repository");
        let is_host = pattern
            .strip_suffix("/*")
            .is_some_and(|above| repository.strip_prefix(above).is_some_and(|below| below.starts_with('/')));
        (pattern == repository || is_host) && found.is_about(tag)
    };
    let found = tagged(&READ, &IMAGE_MOVES).iter().find(about)?;
    found.row.used();
    Some((found.row.text("state"), found.row.filled("moved_to")))
}

/// Whether another image stands behind a tag tomorrow: `latest`, which is what no tag means, and what a family calls its newest.
pub fn image_floats(repository: &str, tag: &str) -> bool {
    static READ: OnceLock<Vec<Patterned>> = OnceLock::new();
    let about = |found: &&Patterned| names(found.row.text("repository"), repository) && found.is_about(tag);
    tag.is_empty() || tagged(&READ, &FLOATING_TAGS).iter().find(about).inspect(|found| found.row.used()).is_some()
}

/// The newest tag of a repository that stays what it is, as far as the catalog goes.
pub fn image_newest(repository: &str) -> Option<&'static str> {
    IMAGE_NEWEST.rows().find(|row| names(row.text("repository"), repository)).map(|row| row.text("pinned"))
}

/// What is particular about an image by its repository and tag: old-apt-key, no-library-path, no-curl. The release is what
/// the tag begins with; a trait of some releases only is none of a tag that names no release.
pub fn image_traits(repository: &str, tag: &str) -> Option<Vec<&'static str>> {
    static READ: OnceLock<Vec<Patterned>> = OnceLock::new();
    let release = tag.split('-').next().and_then(Version::parse);
    let all = tagged(&READ, &IMAGE_TRAITS).iter();
    let mut of_repository = all.filter(|t| names(t.row.text("repository"), repository)).peekable();
    of_repository.peek()?;
    let in_time = |row: &Row| row.text("versions").is_empty() || release.as_ref().is_some_and(|r| row.holds(r));
    let held = of_repository.filter(|t| in_time(&t.row) && t.is_about(tag));
    Some(held.inspect(|t| t.row.used()).map(|t| t.row.text("trait")).collect())
}

/// The least and the most parts that repositories of a registry have.
pub fn registry_parts(registry: &str) -> Option<(usize, Option<usize>)> {
    let row = REGISTRIES.rows().find(|row| names(row.text("registry"), registry))?;
    Some((row.number("least")?, row.number("most")))
}

fn tagged<'r>(read: &'r OnceLock<Vec<Patterned>>, table: &'static Table) -> &'r [Patterned] {
    read.get_or_init(|| Patterned::all(table, "tag"))
}

/// The families of a repository; where its images changed, each has tags of its own.
fn families(name: &str) -> impl Iterator<Item = &'static Patterned> + Clone {
    static READ: OnceLock<Vec<Patterned>> = OnceLock::new();
    tagged(&READ, &IMAGE_FAMILIES)
        .iter()
        .filter(move |f| f.row.words("repositories").any(|pattern| names(pattern, name)))
}

/// Whether a pattern of the table names a repository; a mirror keeps the name as the end of its own, with or without the host.
fn names(pattern: &str, name: &str) -> bool {
    let is_end = |path: &str| name.strip_suffix(path).is_some_and(|host| host.ends_with('/'));
    let path = pattern.split_once('/').filter(|(host, path)| host.contains('.') && path.contains('/'));
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = name.strip_prefix(first) else {
        return !pattern.contains('*') && (is_end(pattern) || path.is_some_and(|(_, path)| is_end(path)));
    };
    let mut exact = true;
    for part in parts {
        exact = part.is_empty();
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    if pattern.contains('*') { exact || rest.is_empty() } else { rest.is_empty() }
}

/// The image family of a repository, written without the host of Docker Hub: nvidia/cuda, nvcr.io/nvidia/pytorch.
pub fn image_family(repository: &str) -> Option<&'static str> {
    families(repository).next().map(|f| f.row.text("family"))
}

/// So many images are remembered by a thread.
const REMEMBERED: usize = 1024;

/// What a repository and a tag tell: the same few images are asked about again and again.
pub fn image(repository: &str, tag: &str) -> Result<ImageInfo, Unrecognised> {
    type Told = HashMap<(String, String), Result<ImageInfo, Unrecognised>>;
    thread_local!(static TOLD: RefCell<Told> = RefCell::default());
    let key = (repository.to_owned(), tag.to_owned());
    if let Some(told) = TOLD.with_borrow(|told| told.get(&key).cloned()) {
        return told;
    }
    let told = looked_up(repository, tag);
    TOLD.with_borrow_mut(|all| {
        if all.len() >= REMEMBERED {
            all.clear();
        }
        all.insert(key, told.clone());
    });
    told
}

fn looked_up(repository: &str, tag: &str) -> Result<ImageInfo, Unrecognised> {
    let mut families = families(repository).peekable();
    let first = families.peek().ok_or(Unrecognised::Repository)?.row.text("family");
    let fitting = families.find_map(|family| Some((family.row, family.pattern()?.captures(tag)?)));
    let (row, captures) = fitting.ok_or(Unrecognised::Tag(first))?;
    let group = |name: &str| captures.name(name).map(|m| m.as_str()).filter(|text| !text.is_empty());
    let last = repository.rsplit('/').next().unwrap_or(repository);
    let mut info = ImageInfo {
        family: row.text("family"),
        accelerator: accelerator(tag, row),
        rocm: group("rocm").and_then(Version::parse),
        cudnn: group("cudnn").and_then(Version::parse),
        flavor: group("flavor").map(str::to_owned),
        python: group("python").and_then(python),
        framework: row.filled("package").or_else(|| framework(last)),
        framework_version: group("version").and_then(Version::parse),
        require_cuda: row.flag("require_cuda") == Some(true),
        forward_compat: row.flag("forward_compat") == Some(true),
        ..ImageInfo::default()
    };
    if let Some((os, version)) = group("os").map(distribution) {
        info.os = Some(os);
        info.os_version = version;
    }
    if info.accelerator == Some("nvidia") {
        info.cuda = group("cuda")
            .or_else(|| group("cuda_major"))
            .and_then(Version::parse)
            .or_else(|| group("cuda_digits").or_else(|| group("cuda_prefix")).and_then(digits));
    }
    let exact = IMAGE_TAGS.rows().filter(|r| r.text("tag") == tag);
    let exact = exact.clone().find(|r| {
        names(r.text("repository"), repository)
            || r.text("repository").strip_prefix("dlc/") == Some(last) && info.family == "aws-dlc"
    });
    match row.text("cuda_from") {
        "ngc" => month(&mut info, group("ngc"), group("variant")),
        "build" => of_build(&mut info),
        _ => {}
    }
    if let Some(row) = exact {
        info.framework_version = row.version("framework_version").or(info.framework_version.take());
        of_row(&mut info, row);
    }
    if info.family.ends_with("text-embeddings-inference") && info.accelerator == Some("nvidia") {
        let prefix = group("variant").unwrap_or("").trim_end_matches('-');
        let row = TEI_IMAGES.find("prefix", prefix);
        info.only_compute_capabilities =
            row.map(|r| r.words("compute_capabilities").filter_map(Version::parse).collect()).unwrap_or_default();
        info.min_compute_capability = info.only_compute_capabilities.iter().min().cloned();
    }
    finish(&mut info);
    Ok(info)
}

/// The month's row of NVIDIA's own images. The TensorRT-LLM variant of Triton is on an older base than its month.
fn month(info: &mut ImageInfo, ngc: Option<&str>, variant: Option<&str>) {
    info.ngc = ngc.and_then(Version::parse);
    info.framework_version = None;
    let Some(row) = ngc.and_then(|month| NGC.find("month", month)) else { return };
    if variant.is_some_and(|v| v.starts_with("trtllm")) {
        return;
    }
    info.cudnn = row.version("cudnn").or(info.cudnn.take());
    of_row(info, row);
}

/// Takes what rows of images and of months state.
fn of_row(info: &mut ImageInfo, row: Row) {
    let take = |field: &mut Option<Version>, column: &str| *field = row.version(column).or(field.take());
    take(&mut info.cuda, "cuda");
    take(&mut info.tensorrt, "tensorrt");
    take(&mut info.python, "python");
    take(&mut info.min_compute_capability, "min_compute_capability");
    if let Some((os, version)) = row.filled("os").map(distribution) {
        info.os = Some(os);
        info.os_version = version;
    }
}

/// The CUDA of an engine's release, where the tag does not name another.
fn of_build(info: &mut ImageInfo) {
    let (Some(package), Some(version), Some("nvidia")) = (info.framework, &info.framework_version, info.accelerator)
    else {
        return;
    };
    let build = framework_build(package, version, None)
        .or_else(|| (package == "tensorflow").then(|| framework_build("tensorflow-gpu", version, None)).flatten());
    let of_image = ENGINE_IMAGES.rows().find(|r| r.text("engine") == package && r.holds(version));
    if info.cuda.is_none() {
        let cuda = of_image.and_then(|r| r.version("cuda")).or_else(|| build.as_ref()?.cuda.clone());
        info.cuda = cuda;
        info.build = build;
    } else {
        info.torch = build.and_then(|b| b.torch);
    }
}

fn finish(info: &mut ImageInfo) {
    if info.accelerator != Some("nvidia") {
        return;
    }
    if let (Some("torch"), Some(version), Some(cuda), None) =
        (info.framework, &info.framework_version, &info.cuda, &info.ngc)
    {
        info.build = framework_build("torch", version, Some(&format!("cu{}{}", cuda.major(), cuda.minor())));
        info.torch = Some(version.clone());
    }
    if let Some(build) = &info.build {
        info.torch = info.torch.take().or_else(|| build.torch.clone());
        info.min_compute_capability =
            info.min_compute_capability.take().or_else(|| build.min_compute_capability.clone());
    }
    info.min_driver = info.cuda.as_ref().and_then(min_driver);
}

/// What the words of a tag say of the hardware, else what the family is made for; `None` where what runs in it is brought
/// there later, with code for the hardware that it finds.
fn accelerator(tag: &str, family: Row) -> Option<&'static str> {
    let word = |word: &str| {
        let cuda = word.strip_prefix("cu").is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
        let named = TAG_WORDS.find("word", word.trim_end_matches(|c: char| c.is_ascii_digit()));
        named.map(|row| row.text("accelerator")).or(cuda.then_some("nvidia"))
    };
    // In `latest-gpu-hipblas` the later word is the particular one.
    let said = tag.rsplit(['-', '_', '.']).find_map(word);
    let made_for = family.filled("accelerator");
    let of_other_vendor = made_for.is_some_and(|vendor| !["nvidia", "cpu"].contains(&vendor));
    let found = said.filter(|found| *found != "nvidia" || !of_other_vendor).or(made_for);
    found.filter(|found| *found != "cpu" || family.flag("brings_code") != Some(true))
}

/// The package that the name of an image family without one of its own tells.
fn framework(last: &str) -> Option<&'static str> {
    let of = |(word, package): &(&str, &'static str)| last.contains(word).then_some(*package);
    [
        ("pytorch", "torch"),
        ("tensorflow", "tensorflow"),
        ("vllm", "vllm"),
        ("sglang", "sglang"),
        ("jax", "jax"),
        ("mxnet", "mxnet"),
        ("tensorrtllm", "tensorrt-llm"),
    ]
    .iter()
    .find_map(of)
}

/// 12.9 of `129`, 13 of `13`.
fn digits(text: &str) -> Option<Version> {
    let (major, minor) = text.split_at_checked(2)?;
    Version::parse(&if minor.is_empty() { major.to_owned() } else { format!("{major}.{minor}") })
}

/// 3.10 of `py310` or `3.10`; `py3` alone says nothing.
fn python(text: &str) -> Option<Version> {
    let text = text.trim_start_matches('-');
    match text.strip_prefix("py") {
        Some(digits) => {
            let (major, minor) = digits.split_at_checked(1)?;
            (!minor.is_empty()).then(|| Version::parse(&format!("{major}.{minor}")))?
        }
        None => Version::parse(text),
    }
}

/// The name and the release in `ubuntu22.04`, `ubuntu2204`, `ubi9`, `22.04`.
fn distribution(text: &str) -> (String, Option<Version>) {
    let name = text.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let release = &text[name.len()..];
    let dotted = match release.split_at_checked(2) {
        Some((year, month)) if name.contains("ubuntu") && month.len() == 2 => format!("{year}.{month}"),
        _ => release.to_owned(),
    };
    let name = match name.trim_end_matches('-') {
        "" => "ubuntu",
        "amzn" => "amazonlinux",
        other => other,
    };
    (name.to_owned(), Version::parse(&dotted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(text: &str) -> Option<Version> {
        Version::parse(text)
    }

    fn cuda(repository: &str, tag: &str) -> Option<Version> {
        image(repository, tag).expect("a known image").cuda
    }

    #[test]
    fn a_release_that_never_was_has_no_image() {
        let flaw = |tag| image_flaw("rayproject/ray", tag).flatten();
        assert_eq!(flaw("2.13.0").as_deref(), Some("there is no release 2.13.0"));
        assert!(flaw("2.9.3").is_none(), "it is there");
        assert!(flaw("2.6.4").is_none() && flaw("2.999.0").is_none(), "it may have come since");
        assert!(flaw("2.13").is_none() && flaw("nightly").is_none(), "no whole release");
    }

    #[test]
    fn tags_by_their_grammar() {
        let info = image("nvidia/cuda", "12.4.1-cudnn-devel-ubuntu22.04").expect("nvidia/cuda");
        assert_eq!((info.cuda, info.flavor.as_deref()), (v("12.4.1"), Some("devel")));
        assert_eq!((info.os.as_deref(), info.os_version), (Some("ubuntu"), v("22.04")));
        assert_eq!(info.min_driver, v("525.60.13"));
        let info = image("pytorch/pytorch", "2.7.1-cuda12.8-cudnn9-runtime").expect("pytorch");
        assert_eq!(info.build.map(|b| b.variant), Some("cu128"));
        assert_eq!(info.min_compute_capability, v("7.5"));
        assert_eq!(cuda("vllm/vllm-openai", "v0.8.5"), v("12.4"));
        assert_eq!(cuda("vllm/vllm-openai", "v0.20.0"), v("13.0"));
        assert_eq!(cuda("vllm/vllm-openai", "v0.20.0-cu129"), v("12.9"));
        assert_eq!(cuda("vllm/vllm-openai", "latest"), None);
        assert_eq!(cuda("registry.corp/mirror/vllm/vllm-openai", "v0.20.0"), v("13.0"));
        assert_eq!(
            cuda(
                "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training",
                "2.6.0-gpu-py312-cu126-ubuntu22.04-ec2"
            ),
            v("12.6")
        );
        assert_eq!(image("vllm/vllm-openai", "gemma4").err(), Some(Unrecognised::Tag("vllm/vllm-openai")));
        assert_eq!(image("acme/app", "1.0").err(), Some(Unrecognised::Repository));
    }

    #[test]
    fn months_are_looked_up() {
        assert_eq!(cuda("nvcr.io/nvidia/pytorch", "24.05-py3"), v("12.4.1"));
        let triton = image("nvcr.io/nvidia/tritonserver", "24.10-py3").expect("triton");
        assert_eq!(triton.tensorrt, v("10.5"));
        assert_eq!(cuda("nvcr.io/nvidia/nemo", "24.01.framework"), None);
    }

    #[test]
    fn hardware_of_a_tag() {
        let on = |repository, tag| image(repository, tag).expect("a known image").accelerator;
        assert_eq!(on("tensorflow/tensorflow", "2.15.0"), Some("cpu"));
        assert_eq!(on("tensorflow/tensorflow", "2.15.0-gpu"), Some("nvidia"));
        assert_eq!(on("ollama/ollama", "0.11.11-rocm"), Some("amd"));
        assert_eq!(on("rayproject/ray", "2.10.0"), None, "what runs in it brings its code");
        assert_eq!(on("rayproject/ray", "2.10.0-py310-cpu"), None);
        assert_eq!(on("rayproject/ray-ml", "2.10.0"), Some("nvidia"));
        assert_eq!(on("rayproject/ray-ml", "2.10.0.abcdef-py310-cpu"), Some("cpu"));
        assert_eq!(on("kserve/huggingfaceserver", "v0.14.1"), Some("nvidia"));
        assert_eq!(on("kserve/huggingfaceserver", "v0.15.1"), Some("cpu"));
        assert_eq!(on("kserve/huggingfaceserver", "v0.15.1-gpu"), Some("nvidia"));
        assert_eq!(on("localai/localai", "v2.29.0-cublas-cuda12-extras"), Some("nvidia"));
        assert_eq!(on("localai/localai", "v2.29.0-hipblas"), Some("amd"));
        assert_eq!(on("quay.io/go-skynet/local-ai", "v2.29.0-sycl-f16"), Some("intel"));
        assert_eq!(on("localai/localai", "v3.5.0"), None);
        assert_eq!(on("ollama/ollama", "rocm"), Some("amd"));
        let tei = |tag| on("ghcr.io/huggingface/text-embeddings-inference", tag);
        assert_eq!(tei("cpu-ipex-1.8"), Some("cpu"));
        assert_eq!(
            (tei("xpu-ipex-1.8"), tei("hopper-1.8"), tei("89-1.8.2")),
            (Some("intel"), Some("nvidia"), Some("nvidia"))
        );
        let rocm = image("rocm/pytorch", "rocm6.2.4_ubuntu22.04_py3.10_pytorch_release_2.6.0").expect("a known family");
        assert_eq!((rocm.accelerator, rocm.rocm, rocm.cuda), (Some("amd"), Version::parse("6.2.4"), None));
        assert_eq!(on("lmsysorg/sglang", "v0.5.3-rocm700-mi30x"), Some("amd"));
        assert_eq!(on("lmsysorg/sglang", "rocm700-mi35x-latest"), Some("amd"));
        assert_eq!(on("lmsysorg/sglang", "v0.5.3-xeon"), Some("cpu"));
        assert_eq!(on("vllm/vllm-openai", "v0.11.0.1"), Some("nvidia"));
        assert_eq!(on("vllm/vllm-openai-rocm", "v0.23.0"), Some("amd"));
        assert_eq!(on("vllm/vllm-openai-cpu", "v0.23.0-x86_64"), Some("cpu"));
        assert_eq!(on("vllm/vllm-openai-xpu", "latest"), Some("intel"));
        assert_eq!(on("rayproject/ray", "2.52.0-py311-cu128"), Some("nvidia"));
        assert_eq!(on("localai/localai", "latest-gpu-hipblas"), Some("amd"));
        let tei = image("ghcr.io/huggingface/text-embeddings-inference", "turing-1.5").expect("tei");
        assert_eq!(tei.only_compute_capabilities, [Version::parse("7.5").expect("version")]);
    }
}
