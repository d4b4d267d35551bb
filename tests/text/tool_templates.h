#pragma once

namespace spectr::tool_templates {

// Templates that write tools and calls like those of published families.

inline constexpr const char* hermes =
    "{% if tools %}<|im_start|>system\n{% for t in tools %}{{ t | tojson }}\n{% endfor %}<|im_end|>\n{% "
    "endif %}"
    "{% for m in messages %}{{ '<|im_start|>' ~ m.role ~ '\n' ~ m.content }}"
    "{% for c in m.tool_calls or [] %}{{ '\n<tool_call>\n{\"name\": \"' ~ c.function.name ~ '\", "
    "\"arguments\": ' ~ "
    "(c.function.arguments | tojson) ~ '}\n</tool_call>' }}{% endfor %}{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

inline constexpr const char* coder =
    "{% for t in tools or [] %}{{ t.function.name ~ '\n' }}{% endfor %}"
    "{% for m in messages %}{{ '<|im_start|>' ~ m.role ~ '\n' ~ m.content }}"
    "{% for c in m.tool_calls or [] %}{{ '\n<tool_call>\n<function=' ~ c.function.name ~ '>\n' }}"
    "{% for k, v in c.function.arguments | items %}{{ '<parameter=' ~ k ~ '>\n' ~ v ~ '\n</parameter>\n' }}"
    "{% endfor %}{{ '</function>\n</tool_call>' }}{% endfor %}{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

inline constexpr const char* glm =
    "[gMASK]{% for t in tools or [] %}{{ t | tojson }}{% endfor %}"
    "{% for m in messages %}<|{{ m.role }}|>{{ '\n' ~ m.content }}"
    "{% for c in m.tool_calls or [] %}{{ '\n<tool_call>' ~ c.function.name ~ '\n' }}"
    "{% for k, v in c.function.arguments | items %}"
    "{{ '<arg_key>' ~ k ~ '</arg_key>\n<arg_value>' ~ v ~ '</arg_value>\n' }}"
    "{% endfor %}{{ '</tool_call>' }}{% endfor %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}";

inline constexpr const char* llama =
    "{% for t in tools or [] %}{{ t | tojson }}{% endfor %}"
    "{% for m in messages %}{{ '<|head|>' ~ m.role ~ '<|end|>\n\n' }}"
    "{% if 'tool_calls' in m %}{% if m.tool_calls | length != 1 %}{{ raise_exception('one call only') }}{% "
    "endif %}"
    "{{ '{\"name\": \"' ~ m.tool_calls[0].function.name ~ '\", \"parameters\": ' ~ "
    "(m.tool_calls[0].function.arguments | tojson) ~ '}' }}{% else %}{{ m.content | trim }}{% endif "
    "%}<|eot_id|>"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|head|>assistant<|end|>\n\n' }}{% endif %}"
    "{# <|python_tag|> #}";

/// Writes a list of calls; ids have nine letters and digits.
inline constexpr const char* mistral =
    "{% macro check(id) %}{% if id | length != 9 %}{{ raise_exception('ids have length 9') }}{% endif %}{% "
    "endmacro %}"
    "{% if tools %}[AVAILABLE_TOOLS]{{ tools | tojson }}[/AVAILABLE_TOOLS]{% endif %}{% for m in messages %}"
    "{% if m.role == 'user' %}[INST]{{ m.content }}[/INST]{% elif m.tool_calls %}[TOOL_CALLS][{% for c in "
    "m.tool_calls %}{{ check(c.id) ~ (c.function | tojson)[:-1] ~ ', \"id\": \"' ~ c.id ~ '\"}' }}"
    "{{ ', ' if not loop.last }}{% endfor %}]</s>{% elif m.role == 'tool' %}{{ check(m.tool_call_id) }}"
    "[TOOL_RESULTS]{{ m.content }} for {{ m.tool_call_id }}[/TOOL_RESULTS]{% else %}{{ m.content }}</s>{% "
    "endif %}"
    "{% endfor %}";

/// Requires arguments to be strings.
inline constexpr const char* ministral =
    "{% for t in tools or [] %}{{ t.function.name }}{% endfor %}{% for m in messages %}[{{ m.role }}]{{ "
    "m.content }}"
    "{% for c in m.tool_calls or [] %}[TOOL_CALLS]{{ c.function.name }}[ARGS]{{ c.function.arguments }}{% "
    "endfor %}"
    "</s>{% endfor %}";

/// Requires messages with calls to have no content.
inline constexpr const char* deepseek =
    "{% for t in tools or [] %}{{ t.function.name }}{% endfor %}{% for m in messages %}<|{{ m.role }}|>"
    "{% if m.content is none %}<calls>{% for c in m.tool_calls %}<call>{{ c.function.name }}<sep>"
    "{{ c.function.arguments }}</call>{% endfor %}</calls>{% else %}{{ m.content }}{% endif %}</s>{% endfor "
    "%}";

inline constexpr const char* cohere =
    "{% for t in tools or [] %}{{ t.function.name }}{% endfor %}{% for m in messages %}<|TURN|>{{ m.role }}"
    "{% if m.tool_calls %}<|START_THINKING|>{{ m.reasoning_content }}<|END_THINKING|><|START_ACTION|>["
    "{% for c in m.tool_calls %}{{ '{\"tool_call_id\": \"' ~ loop.index0 ~ '\", \"tool_name\": \"' ~ "
    "c.function.name ~ "
    "'\", \"parameters\": ' ~ (c.function.arguments | tojson) ~ '}' ~ (',\n' if not loop.last else '') }}{% "
    "endfor %}]"
    "<|END_ACTION|>{% else %}<|START_RESPONSE|>{{ m.content }}<|END_RESPONSE|>{% endif %}<|END_TURN|>{% "
    "endfor %}";

inline constexpr const char* minimax =
    "{% for t in tools or [] %}{{ t.function.name }}{% endfor %}{% for m in messages %}[{{ m.role }}]{{ "
    "m.content }}"
    "{% if m.tool_calls %}{{ '\n<calls>\n' }}{% for c in m.tool_calls %}{{ '<invoke name=\"' ~ "
    "c.function.name ~ "
    "'\">\n' }}{% for k, v in c.function.arguments | items %}{{ '<parameter name=\"' ~ k ~ '\">' ~ v ~ "
    "'</parameter>\n' }}{% endfor %}{{ '</invoke>\n' }}{% endfor %}</calls>{% endif %}[end]{% endfor %}";

inline constexpr const char* gemma =
    "{% for t in tools or [] %}{{ t.function.name }}{% endfor %}{% for m in messages %}<|turn>{{ m.role ~ "
    "'\n' "
    "~ m.content }}{% for c in m.tool_calls or [] %}{{ '<|tool_call>call:' ~ c.function.name ~ '{' }}"
    "{% for k, v in c.function.arguments | items %}{{ k ~ ':<|\"|>' ~ v ~ '<|\"|>' ~ (',' if not loop.last "
    "else '') "
    "}}{% endfor %}{{ '}<tool_call|>' }}{% endfor %}<turn|>{% endfor %}";

/// Writes calls in Python syntax.
inline constexpr const char* lfm =
    "{% for t in tools or [] %}{{ t.function.name }}{% endfor %}{% for m in messages %}<|{{ m.role }}|>{{ "
    "m.content }}{% if m.tool_calls %}<|tool_call_start|>[{% for c in m.tool_calls %}{{ c.function.name ~ "
    "'(' }}"
    "{% for k, v in c.function.arguments | items %}{{ k ~ '=' ~ (v | tojson) ~ (', ' if not loop.last else "
    "'') }}"
    "{% endfor %}{{ ')' ~ (', ' if not loop.last else '') }}{% endfor %}]<|tool_call_end|>{% endif %}</s>{% "
    "endfor %}";

/// Writes tags that tell whether a value is a string.
inline constexpr const char* deepseek_tags =
    "{% for t in tools or [] %}{{ t.function.name }}{% endfor %}{% for m in messages %}[{{ m.role }}]{{ "
    "m.content }}{% if m.tool_calls %}{{ '\n<DSML|calls>\n' }}{% for c in m.tool_calls %}{{ '<DSML|invoke "
    "name=\"' ~ c.function.name ~ '\">\n' }}{% for k, v in c.function.arguments | items %}{{ "
    "'<DSML|parameter "
    "name=\"' ~ k ~ '\" string=\"' ~ ('true' if v is string else 'false') ~ '\">' ~ (v if v is string else v "
    "| "
    "tojson) ~ '</DSML|parameter>\n' }}{% endfor %}{{ '</DSML|invoke>\n' }}{% endfor %}</DSML|calls>{% endif "
    "%}[end]{% endfor %}";

/// Numbers the calls.
inline constexpr const char* kimi =
    "{% for t in tools or [] %}{{ t.function.name }}{% endfor %}{% for m in messages %}<|{{ m.role }}|>{{ "
    "m.content }}{% if m.tool_calls %}<|tool_calls_section_begin|>{% for c in m.tool_calls "
    "%}<|tool_call_begin|>"
    "{{ 'functions.' ~ c.function.name ~ ':' ~ loop.index0 }}<|tool_call_argument_begin|>{{ "
    "c.function.arguments | tojson }}<|tool_call_end|>{% endfor %}<|tool_calls_section_end|>{% endif "
    "%}</s>{% "
    "endfor %}";

/// Supports neither tools nor system messages.
inline constexpr const char* plain =
    "{% for m in messages %}{% if m.role not in ['user', 'assistant'] %}{{ raise_exception('no such role') }}"
    "{% endif %}<{{ m.role }}>{{ m.content }}</>{% endfor %}{% if add_generation_prompt %}<assistant>{% "
    "endif %}";

}  // namespace spectr::tool_templates
