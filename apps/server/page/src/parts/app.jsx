import { useLayoutEffect } from "preact/hooks";
import { titleOf } from "../conversation.js";
import { state, update } from "../state.js";
import { Composer } from "./composer.jsx";
import { DraftingPanel } from "./drafting_panel.jsx";
import { Header } from "./header.jsx";
import { SettingsPanel } from "./settings_panel.jsx";
import { Sidebar } from "./sidebar.jsx";
import { Thread } from "./thread.jsx";

function Notice({ text, action, act }) {
  const close = () => update({ notice: null });
  const choose = () => {
    close();
    act();
  };
  return (
    <div class="notices">
      <div class="notice" role="alert">
        <span>{text}</span>
        {action && (
          <button type="button" onClick={choose}>
            {action}
          </button>
        )}
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </div>
  );
}

const panels = { settings: SettingsPanel, drafting: DraftingPanel };

export function App() {
  const { current, narrow, sidebar, panel, settings, notice, announcement } = state;
  const Panel = panels[panel];
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = settings.theme;
  }, [settings.theme]);
  useLayoutEffect(() => {
    document.title = `${titleOf(current)} – spectr`;
  });
  const covered = narrow && (sidebar || Boolean(Panel));
  return (
    <div class="page">
      {sidebar && <Sidebar />}
      {narrow && sidebar && <div class="backdrop" onClick={() => update({ sidebar: false })} />}
      <main inert={covered}>
        <Header />
        <Thread />
        {notice && !covered && <Notice {...notice} />}
        <Composer />
      </main>
      {Panel && <Panel />}
      {state.dropping && <div class="drop">Drop text files to attach them</div>}
      {notice && covered && <Notice {...notice} />}
      <p class="visually-hidden" role="status">
        {announcement}
      </p>
    </div>
  );
}
