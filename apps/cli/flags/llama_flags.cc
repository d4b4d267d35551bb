#include "apps/cli/flags/llama_flags.h"

#include <algorithm>
#include <array>

namespace spectr::cli {
namespace {

constexpr auto none = Values::none, maybe_word = Values::maybe_word, one = Values::one, two = Values::two;
constexpr auto renamed = Treatment::renamed, ignored = Treatment::ignored, noted = Treatment::noted,
               refused = Treatment::refused;

constexpr std::string_view shared_setting =
    "the draft uses the target's setting; choose it with -c, -t, -ctk or -ctv";
constexpr std::string_view exact_acceptance =
    "drafts have L tokens whatever their probability; use -L, or --method auto";
constexpr std::string_view by_method =
    "choose with --method, or in requests to the server with 'speculative'";
constexpr std::string_view own_ngrams =
    "use --method ngram, which looks up the text's own n-grams (--ngram, -L)";
constexpr std::string_view one_place = "a model is computed in one place; choose it with --device";
constexpr std::string_view one_pool = "one number of threads (-t) serves all passes";
constexpr std::string_view affinity = "use taskset to choose processors, or --numa";
constexpr std::string_view merge_adapters = "adapters are not applied; merge them into the file";
constexpr std::string_view no_steering = "control vectors are not applied";
constexpr std::string_view no_download =
    "nothing is downloaded; give the model with -m FILE or -hf USER/REPO";
constexpr std::string_view chat = "use spectr chat for a conversation";
constexpr std::string_view text_only = "images, audio and video are not read";
constexpr std::string_view no_tools = "the server runs no tools; let the client run them";
constexpr std::string_view by_template = "the chat template frames messages; see --chat-template";
constexpr std::string_view prompts_of_clients = "clients send the prompts";

// clang-format off: rows of tables
// Renamed flags, and flags that a command has under a longer name only.
constexpr std::array names = std::to_array<LlamaFlags>({
    {"-md", one, renamed, "--model-draft"},
    {"-k", one, renamed, "-K"},
    {"-sys", one, renamed, "--system-prompt"},
    {"-jf", one, renamed, "--json-schema-file"},
    {"-np", one, renamed, "--parallel"},
    {"-to", one, renamed, "--timeout"},
    {"-cram", one, renamed, "--cache-ram"},
    {"-no-cnv", none, renamed, "--no-conversation"},
    {"-ctk", one, renamed, "--cache-type-k"},
    {"-ctv", one, renamed, "--cache-type-v"},
    {"-hf -hfr", one, renamed, "--hf-repo"},
    {"-hff", one, renamed, "--hf-file"},
    {"-hfd -hfrd", one, renamed, "--hf-repo-draft"},
    {"-mu", one, renamed, "--model-url"},
    {"-dev", one, renamed, "--device"},
    {"-devd", one, renamed, "--device-draft"},
    {"-ngl", one, renamed, "--n-gpu-layers"},
    {"-ngld", one, renamed, "--n-gpu-layers-draft"},
    {"-rea", one, renamed, "--reasoning"},
    {"--cors-origins", one, renamed, "--cors"},
    {"-v --log-verbose", none, renamed, "--verbose"},
    {"--usage", none, renamed, "--help"},
});

// Flags for loading and computing models.
constexpr std::array computing = std::to_array<LlamaFlags>({
    {"-tb --threads-batch", one, noted, one_pool},
    {"-C --cpu-mask -Cr --cpu-range -Cb --cpu-mask-batch -Crb --cpu-range-batch", one, noted, affinity},
    {"-b --batch-size -ub --ubatch-size", one, refused, "spectr sizes its passes itself", ">=1",
     "LLAMA_ARG_BATCH LLAMA_ARG_UBATCH"},
    {"--no-context-shift --warmup --no-warmup --no-escape --perf --no-perf -kvo --kv-offload --repack -nr "
     "--no-repack --no-host --op-offload --no-op-offload --mmap --no-mmap -dio --direct-io -ndio "
     "--no-direct-io --offline -v --verbose --log-verbose --log-disable --log-prefix --no-log-prefix "
     "--log-timestamps --no-log-timestamps --log-jsonl --no-log-jsonl", none, ignored, {}, {},
     "LLAMA_ARG_PERF LLAMA_ARG_KV_OFFLOAD LLAMA_ARG_REPACK LLAMA_ARG_NO_HOST LLAMA_ARG_MMAP LLAMA_ARG_DIO "
     "LLAMA_ARG_OFFLINE LLAMA_ARG_LOG_PREFIX LLAMA_ARG_LOG_TIMESTAMPS LLAMA_ARG_LOG_JSONL"},
    {"--cpu-strict --cpu-strict-batch --prio --prio-batch --poll --poll-batch --keep -gaw --grp-attn-w -dt "
     "--defrag-thold -lm --load-mode -lzm --lazy-mode -fit --fit -fitt --fit-target -fitc --fit-ctx -hft "
     "--hf-token -lv --verbosity --log-verbosity", one, ignored, {}, {},
     "LLAMA_ARG_GRP_ATTN_W LLAMA_ARG_DEFRAG_THOLD LLAMA_ARG_LOAD_MODE LLAMA_ARG_LAZY_MODE LLAMA_ARG_FIT "
     "LLAMA_ARG_FIT_TARGET LLAMA_ARG_FIT_CTX LLAMA_ARG_LOG_VERBOSITY"},
    {"-fa --flash-attn", maybe_word, ignored, {}, {}, "LLAMA_ARG_FLASH_ATTN"},
    {"--context-shift", none, refused, "a text ends where the context does; give a larger -c", {},
     "LLAMA_ARG_CONTEXT_SHIFT"},
    {"-e --escape", none, ignored, {}, {}, {}, "serve"},
    {"-nkvo --no-kv-offload", none, noted, "keys and values are kept where the model is computed"},
    {"-gan --grp-attn-n", one, refused, "self-extension is not supported; see --rope-scaling", "1",
     "LLAMA_ARG_GRP_ATTN_N"},
    {"--mlock", none, noted, "the model's memory is not locked", {}, "LLAMA_ARG_MLOCK"},
    {"--check-tensors", none, noted, "the numbers in tensors are not checked"},
    {"--override-kv", one, refused, "metadata is read as the file has it; change the file"},
    {"--rpc", one, refused, "several machines share a model with mpirun and --shard", {}, "LLAMA_ARG_RPC"},
    {"-ot --override-tensor", one, refused, one_place, {}, "LLAMA_ARG_OVERRIDE_TENSOR"},
    {"-cmoe --cpu-moe", none, refused, one_place, {}, "LLAMA_ARG_CPU_MOE"},
    {"-ncmoe --n-cpu-moe -ncffn --n-cpu-ffn", one, refused, one_place, "0",
     "LLAMA_ARG_N_CPU_MOE LLAMA_ARG_N_CPU_FFN"},
    {"-sm --split-mode", one, refused, "one device computes a model; ranks share it with --split row|layer",
     "none layer", "LLAMA_ARG_SPLIT_MODE"},
    {"-ts --tensor-split", one, refused, "one device computes a model; ranks share it with --shard", {},
     "LLAMA_ARG_TENSOR_SPLIT"},
    {"-mg --main-gpu", one, refused, "choose with --device, from --list-devices", "0", "LLAMA_ARG_MAIN_GPU"},
    {"--lora --lora-scaled", one, refused, merge_adapters},
    {"--lora-init-without-apply", none, refused, merge_adapters},
    {"--control-vector --control-vector-scaled", one, refused, no_steering},
    {"--control-vector-layer-range", two, refused, no_steering},
    {"-dr --docker-repo", one, refused, no_download, {}, "LLAMA_ARG_DOCKER_REPO"},
    {"--embd-gemma-default --fim-qwen-1.5b-default --fim-qwen-3b-default --fim-qwen-7b-default "
     "--fim-qwen-7b-spec --fim-qwen-14b-spec --fim-qwen-30b-default --gpt-oss-20b-default "
     "--gpt-oss-120b-default --vision-gemma-4b-default --vision-gemma-12b-default", none, refused,
     no_download},
    {"-cl --cache-list", none, refused, "use spectr models, which lists the cached models"},
    {"--completion-bash", none, refused, "there is no completion for shells; see spectr --help-all"},
    {"--log-colors", maybe_word, ignored, {}, {}, "LLAMA_ARG_LOG_COLORS"},
    {"--log-file", one, noted, "redirect standard error to a file: 2>FILE", {}, "LLAMA_ARG_LOG_FILE"},
    {"--log-prompts-dir", one, noted, "prompts are not logged"},
});

// Flags for drafting. Those without a counterpart are refused unless their value is neutral.
constexpr std::array drafting = std::to_array<LlamaFlags>({
    {"--draft-min --draft-n-min --spec-draft-n-min", one, refused, "use -L for the number of tokens per draft", "0",
     "LLAMA_ARG_SPEC_DRAFT_N_MIN LLAMA_ARG_DRAFT_MIN"},
    {"--draft-p-min --spec-draft-p-min --draft-p-split --spec-draft-p-split", one, refused, exact_acceptance,
     "0", "LLAMA_ARG_SPEC_DRAFT_P_MIN LLAMA_ARG_SPEC_DRAFT_P_SPLIT"},
    {"--spec-default", none, refused, by_method},
    {"--spec-draft-sampling", one, refused, "drafts are always sampled; choose with --method and --plan"},
    {"--spec-synth-len --spec-synth-rates", one, refused, by_method, {},
     "LLAMA_ARG_SPEC_SYNTH_LEN LLAMA_ARG_SPEC_SYNTH_RATES"},
    {"--spec-draft-backend-sampling --no-spec-draft-backend-sampling", none, ignored, {}, {},
     "LLAMA_ARG_SPEC_DRAFT_BACKEND_SAMPLING"},
    {"-lcs --lookup-cache-static -lcd --lookup-cache-dynamic", one, refused, own_ngrams},
    {"--spec-ngram-mod-n-min --spec-ngram-mod-n-max --spec-ngram-mod-n-match --spec-ngram-simple-size-n "
     "--spec-ngram-simple-size-m --spec-ngram-simple-min-hits --spec-ngram-map-k-size-n "
     "--spec-ngram-map-k-size-m --spec-ngram-map-k-min-hits --spec-ngram-map-k4v-size-n "
     "--spec-ngram-map-k4v-size-m --spec-ngram-map-k4v-min-hits --spec-ngram-size-n --spec-ngram-size-m "
     "--spec-ngram-min-hits", one, refused, own_ngrams},
    {"-cd --ctx-size-draft", one, refused, shared_setting, "0 =--ctx-size"},
    {"-td --threads-draft --spec-draft-threads", one, refused, shared_setting, "-1 =--threads"},
    {"-tbd --threads-batch-draft --spec-draft-threads-batch", one, refused, one_pool, "-1 =--threads"},
    {"-ctkd --cache-type-k-draft --spec-draft-type-k", one, refused, shared_setting, "=--cache-type-k",
     "LLAMA_ARG_SPEC_DRAFT_CACHE_TYPE_K"},
    {"-ctvd --cache-type-v-draft --spec-draft-type-v", one, refused, shared_setting, "=--cache-type-v",
     "LLAMA_ARG_SPEC_DRAFT_CACHE_TYPE_V"},
    {"-Cd --cpu-mask-draft --spec-draft-cpu-mask -Crd --cpu-range-draft --spec-draft-cpu-range -Cbd "
     "--cpu-mask-batch-draft --spec-draft-cpu-mask-batch", one, noted, affinity},
    {"--cpu-strict-draft --spec-draft-cpu-strict --cpu-strict-batch-draft --spec-draft-cpu-strict-batch "
     "--prio-draft --spec-draft-prio --prio-batch-draft --spec-draft-prio-batch --poll-draft "
     "--spec-draft-poll --poll-batch-draft --spec-draft-poll-batch", one},
    {"-otd --override-tensor-draft --spec-draft-override-tensor", one, refused, one_place},
    {"-cmoed --cpu-moe-draft --spec-draft-cpu-moe", none, refused, one_place, {},
     "LLAMA_ARG_SPEC_DRAFT_CPU_MOE"},
    {"-ncmoed --n-cpu-moe-draft --spec-draft-n-cpu-moe --spec-draft-ncmoe", one, refused, one_place, "0",
     "LLAMA_ARG_SPEC_DRAFT_N_CPU_MOE"},
    {"--draft-model", one, refused, "the draft model is given with -md or --model-draft"},
});

// Flags for sampling and chat templates.
constexpr std::array sampling = std::to_array<LlamaFlags>({
    {"-bs --backend-sampling", none, ignored, {}, {}, "LLAMA_ARG_BACKEND_SAMPLING"},
    {"--grammar --grammar-file", one, refused, "send 'grammar' in requests", {}, {}, "serve"},
    {"-j --json-schema -jf --json-schema-file", one, refused, "send 'response_format' in requests", {}, {}, "serve"},
    {"-l --logit-bias", one, refused, "send 'logit_bias' in requests", {}, {}, "serve"},
    {"--ignore-eos", none, refused, "send 'ignore_eos' in requests", {}, {}, "serve"},
    {"-r --reverse-prompt", one, refused, "send 'stop' in requests", {}, {}, "serve"},
    {"--stop", one, refused, "words to stop before are given with -r or --reverse-prompt"},
    {"-sp --special", none, refused, "control tokens are not printed; see --special of spectr detokenize"},
    {"--jinja", none, ignored, {}, {}, "LLAMA_ARG_JINJA"},
    {"--no-jinja", none, noted, "chat templates are always run as Jinja"},
    {"--reasoning-preserve", none, refused, "use --chat-template-kwargs '{\"preserve_reasoning\": true}'",
     {}, "LLAMA_ARG_REASONING_PRESERVE"},
    {"--no-reasoning-preserve", none, refused,
     "use --chat-template-kwargs '{\"preserve_reasoning\": false}'"},
    {"--skip-chat-parsing", none, refused, "use --reasoning-format none", {}, "LLAMA_ARG_SKIP_CHAT_PARSING"},
    {"--no-skip-chat-parsing", none},
    {"-mm --mmproj -mmu --mmproj-url --image --audio --video", one, refused, text_only, {},
     "LLAMA_ARG_MMPROJ LLAMA_ARG_MMPROJ_URL"},
    {"--mmproj-auto --no-mmproj --no-mmproj-auto", none, ignored, {}, {}, "LLAMA_ARG_MMPROJ_AUTO"},
    {"--mmproj-offload --no-mmproj-offload", none, ignored, {}, {}, "LLAMA_ARG_MMPROJ_OFFLOAD"},
    {"-mmdev --mmproj-device --image-min-tokens --image-max-tokens --mtmd-batch-max-tokens --video-fps "
     "--video-timestamp-interval --video-ffmpeg-dir", one, ignored, {}, {},
     "LLAMA_ARG_IMAGE_MIN_TOKENS LLAMA_ARG_IMAGE_MAX_TOKENS LLAMA_ARG_MTMD_BATCH_MAX_TOKENS "
     "LLAMA_ARG_VIDEO_FPS LLAMA_ARG_VIDEO_TIMESTAMP_INTERVAL LLAMA_ARG_VIDEO_FFMPEG_DIR"},
    {"-mv --model-vocoder -hfv -hfrv --hf-repo-v -hffv --hf-file-v", one, refused, "speech is not generated",
     {}, "LLAMA_ARG_HF_REPO_V LLAMA_ARG_HF_FILE_V"},
    {"--tts-use-guide-tokens", none, refused, "speech is not generated"},
});

// Flags of llama-cli and llama-completion.
constexpr std::array terminal = std::to_array<LlamaFlags>({
    {"-cnv --conversation -i --interactive -if --interactive-first -mli --multiline-input", none, ignored,
     {}, {}, {}, "chat"},
    {"-cnv --conversation -i --interactive -if --interactive-first -mli --multiline-input", none, refused,
     chat},
    {"-no-cnv --no-conversation", none, refused, "use spectr generate to continue a text", {}, {}, "chat"},
    {"-no-cnv --no-conversation", none, refused, prompts_of_clients},
    {"-st --single-turn", none, noted, "give the message with -p for a single answer", {}, {}, "chat"},
    {"-st --single-turn", none},
    {"--server-base", one, refused, "spectr chat loads the model itself; give it with -m FILE"},
    {"-bf --binary-file", one, refused, "use -f FILE"},
    {"-sysf --system-prompt-file", one, refused, "use -sys \"$(cat FILE)\""},
    {"-sys --system-prompt", one, refused, "send a system message in requests", {}, {}, "serve"},
    {"-p --prompt -f --file", one, refused, prompts_of_clients, {}, {}, "serve"},
    {"--verbose-prompt", none, noted, "spectr tokenize prints the tokens of a prompt"},
    {"--display-prompt --no-display-prompt --simple-io", none},
    {"--show-timings --no-show-timings", none, ignored, {}, {}, "LLAMA_ARG_SHOW_TIMINGS"},
    {"-co --color", maybe_word},
    {"-o --output --output-file", one, refused, "redirect standard output to a file: >FILE"},
    {"-ptc --print-token-count", one, noted, "tokens are counted at the end"},
    {"--prompt-cache-all", none},
    {"--in-prefix-bos", none, refused, by_template},
    {"--in-prefix --in-suffix", one, refused, by_template},
});

// Flags of llama-server. Other commands ignore their variables.
constexpr std::array serving = std::to_array<LlamaFlags>({
    {"--kv-unified-per-slot", one, refused, "-c is the context of each slot", "0",
     "LLAMA_ARG_KV_UNIFIED_PER_SLOT", "serve"},
    {"-ctxcp --ctx-checkpoints --swa-checkpoints -cms --checkpoint-min-step", one, ignored, {}, {},
     "LLAMA_ARG_CTX_CHECKPOINTS LLAMA_ARG_CHECKPOINT_MIN_SPACING_NT", "serve"},
    {"-kvu --kv-unified -no-kvu --no-kv-unified", none, ignored, {}, {}, "LLAMA_ARG_KV_UNIFIED", "serve"},
    {"--cache-idle-slots --no-cache-idle-slots", none, ignored, {}, {}, "LLAMA_ARG_CACHE_IDLE_SLOTS",
     "serve"},
    {"-cb --cont-batching", none, ignored, {}, {}, "LLAMA_ARG_CONT_BATCHING", "serve"},
    {"-nocb --no-cont-batching", none, noted, "requests are always batched; -np 1 decodes one at a time", {},
     {}, "serve"},
    {"--tags", one, ignored, {}, {}, "LLAMA_ARG_TAGS", "serve"},
    {"--reuse-port", none, noted, "a port belongs to one server", {}, "LLAMA_ARG_REUSE_PORT", "serve"},
    {"--path", one, refused, "the page is built in; let a proxy serve files", {}, "LLAMA_ARG_STATIC_PATH",
     "serve"},
    {"--api-prefix", one, refused, "let a proxy strip the prefix", "/", "LLAMA_ARG_API_PREFIX", "serve"},
    {"--cors-methods", one, refused, "the methods are GET, POST and OPTIONS; choose origins with --cors",
     "* GET,POST,OPTIONS GET,POST,DELETE,OPTIONS", "LLAMA_ARG_CORS_METHODS", "serve"},
    {"--cors-headers", one, refused, "every header is allowed; choose origins with --cors", "*",
     "LLAMA_ARG_CORS_HEADERS", "serve"},
    {"--cors-credentials", none, noted, "cookies are not read; send the key in a header", {},
     "LLAMA_ARG_CORS_CREDENTIALS", "serve"},
    {"--no-cors-credentials", none, ignored, {}, {}, {}, "serve"},
    {"--ui --webui", none, ignored, {}, {}, "LLAMA_ARG_UI LLAMA_ARG_WEBUI", "serve"},
    {"--no-ui --no-webui", none, noted, "the page is always served, at /", {}, {}, "serve"},
    {"--ui-config --webui-config --ui-config-file --webui-config-file", one, noted,
     "the page keeps its settings in the browser", {}, "LLAMA_ARG_UI_CONFIG LLAMA_ARG_UI_CONFIG_FILE",
     "serve"},
    {"--ui-mcp-proxy --webui-mcp-proxy", none, refused, no_tools, {}, "LLAMA_ARG_UI_MCP_PROXY", "serve"},
    {"--no-ui-mcp-proxy --no-webui-mcp-proxy -no-ag --no-agent", none, ignored, {}, {}, {}, "serve"},
    {"-ag --agent", none, refused, no_tools, {}, "LLAMA_ARG_AGENT", "serve"},
    {"--tools --tools-runtime --mcp-servers-config --mcp-servers-json", one, refused, no_tools, {},
     "LLAMA_ARG_TOOLS LLAMA_ARG_TOOLS_RUNTIME LLAMA_ARG_MCP_SERVERS_CONFIG LLAMA_ARG_MCP_SERVERS_JSON",
     "serve"},
    {"--sse-ping-interval", one, ignored, {}, {}, "LLAMA_ARG_SSE_PING_INTERVAL", "serve"},
    {"--cache-prompt", none, ignored, {}, {}, "LLAMA_ARG_CACHE_PROMPT", "serve"},
    {"--no-cache-prompt", none, noted, "send 'cache_prompt': false in requests", {}, {}, "serve"},
    {"--cache-reuse", one, ignored, {}, {}, "LLAMA_ARG_CACHE_REUSE", "serve"},
    {"--props", none, noted, "POST /props is not served", {}, "LLAMA_ARG_ENDPOINT_PROPS", "serve"},
    {"--slots", none, ignored, {}, {}, "LLAMA_ARG_ENDPOINT_SLOTS", "serve"},
    {"--no-slots", none, noted, "/slots is always served", {}, {}, "serve"},
    {"--media-path", one, refused, text_only, {}, {}, "serve"},
    {"--prefill-assistant", none, ignored, {}, {}, "LLAMA_ARG_PREFILL_ASSISTANT", "serve"},
    {"--no-prefill-assistant", none, refused, "send 'continue_final_message': false in requests", {}, {},
     "serve"},
    {"-sps --slot-prompt-similarity", one, ignored, {}, {}, {}, "serve"},
    {"--sleep-idle-seconds", one, noted, "the model stays loaded", {}, {}, "serve"},
});
// clang-format on

constexpr auto table = [] {
  std::array<LlamaFlags, names.size() + computing.size() + drafting.size() + sampling.size() +
                             terminal.size() + serving.size()>
      all;
  auto end = all.begin();
  end = std::ranges::copy(names, end).out;
  end = std::ranges::copy(computing, end).out;
  end = std::ranges::copy(drafting, end).out;
  end = std::ranges::copy(sampling, end).out;
  end = std::ranges::copy(terminal, end).out;
  std::ranges::copy(serving, end);
  return all;
}();

}  // namespace

std::span<const LlamaFlags> llama_flags() {
  return table;
}

}  // namespace spectr::cli
