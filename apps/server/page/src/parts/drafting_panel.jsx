import { measurePlain } from "../answering.js";
import { pathTo } from "../conversation.js";
import { acceptanceOf, speedOf, speedsOf } from "../drafting.js";
import { changeSettings } from "../library.js";
import {
  chooseMethod,
  chooseShape,
  choosesShape,
  lacksDraftModel,
  ruleOf,
  shapeOf,
  speculationOf,
} from "../speculation.js";
import { state } from "../state.js";
import { AcceptanceChart, SpeedChart } from "./charts.jsx";
import { Choice } from "./choice.jsx";
import { NumberField } from "./number_field.jsx";
import { Panel } from "./panel.jsx";

const shapes = [
  { name: "drafts", label: "Draft sequences K", min: 1, max: 64, step: 1, slider: 8 },
  { name: "length", label: "Tokens per draft L", min: 1, max: 64, step: 1, slider: 8 },
];

/** Settings of the decoding of future answers. */
function Method() {
  const {
    settings,
    server: { props },
  } = state;
  if (!props) return null;
  const speculation = speculationOf(settings, props);
  const { method } = speculation;
  const rule = ruleOf(props, method);
  const shape = shapeOf(speculation);
  const change = (field) => {
    chooseShape(settings, props, field);
    changeSettings({});
  };
  return (
    <form onSubmit={(event) => event.preventDefault()} aria-label="How drafts are made">
      <Choice
        id="method"
        label="Method"
        value={method}
        options={props.methods.map((one) => one.name)}
        change={(name) => (chooseMethod(settings, props, name), changeSettings({}))}
      />
      <p class="hint">
        {rule?.summary}
        {rule && !rule.lossless ? "; changes the distribution" : ""}
      </p>
      {rule?.plan && (
        <Choice
          id="plan"
          label="Plan"
          value={speculation.plan ?? rule.plan}
          options={props.plans}
          change={(plan) => change({ plan })}
        />
      )}
      {!choosesShape(method) &&
        shapes.map((one) => (
          <NumberField
            key={one.name}
            rule={one}
            value={shape[one.name]}
            change={(value) => value >= 1 && change({ [one.name]: value })}
          />
        ))}
      {settings.speculative && (
        <button type="button" onClick={() => changeSettings({ speculative: null })}>
          As the server was started
        </button>
      )}
    </form>
  );
}

const figure = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : "–");

function rowsOf(answer) {
  const { totals, usage } = answer;
  return [
    ["Tokens", totals.tokens],
    ["Passes of the target", totals.calls],
    ["Tokens per pass", figure(totals.tokens / totals.calls, 2)],
    ["Drafted tokens", totals.drafted],
    [
      "Accepted of these",
      totals.drafted ? `${totals.accepted} (${figure((100 * totals.accepted) / totals.drafted, 0)} %)` : "–",
    ],
    ["Tokens per second", figure(speedOf(answer), 1)],
    ["Plain decoding", answer.plain === undefined ? "not measured" : figure(answer.plain, 1)],
    ["Method", totals.plan ? `${totals.method}, ${totals.plan}` : totals.method],
    ["Distribution", totals.lossless ? "the target’s, exactly" : "not the target’s"],
    [
      "Prompt, from the cache",
      usage ? `${usage.prompt_tokens}, ${usage.prompt_tokens_details?.cached_tokens ?? 0}` : "–",
    ],
    ["Seed", answer.seed ?? "–"],
  ];
}

function Plain({ answer }) {
  if (state.measuring) {
    return (
      <button type="button" onClick={() => state.measuring.controller.abort()}>
        Stop measuring
      </button>
    );
  }
  const busy = state.running.size > 0 || state.server.status !== "ready";
  return (
    <button type="button" id="compare" disabled={busy} onClick={() => measurePlain(answer)}>
      Measure plain decoding
    </button>
  );
}

function Statistics({ answer }) {
  if (!answer?.tokens?.length && !answer?.totals)
    return <p class="soft">With the next answer its statistics stand here.</p>;
  return (
    <section aria-label="Statistics">
      <h3>Accepted, by place in the draft</h3>
      <AcceptanceChart shares={acceptanceOf(answer.tokens ?? [])} />
      <h3>Tokens per second</h3>
      <SpeedChart speeds={speedsOf(answer)} plain={answer.plain} />
      {answer.totals && (
        <dl id="numbers">
          {rowsOf(answer).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {answer.totals && <Plain answer={answer} />}
    </section>
  );
}

/** Returns the chosen answer, or the last one of the branch that is shown. */
function answerShown() {
  const answers = pathTo(state.current).filter((message) => message.role === "assistant");
  return answers.find((answer) => answer.id === state.chosen) ?? answers.at(-1);
}

/** Explains that there is no draft model and how to add one. */
function NoDraftModel() {
  const { props } = state.server;
  if (!lacksDraftModel(props)) return null;
  return (
    <div class="card" role="note">
      <strong>This server has no draft model</strong>
      <p>
        The model writes every token alone. To draft, start the server with <code>-md FILE</code>
        {ruleOf(props, "ngram") && ", or choose the method ngram, which drafts from the text itself"}.
      </p>
    </div>
  );
}

export function DraftingPanel() {
  return (
    <Panel name="Drafting">
      <NoDraftModel />
      <Statistics answer={answerShown()} />
      <h3>How drafts are made</h3>
      <Method />
    </Panel>
  );
}
