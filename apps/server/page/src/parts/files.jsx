import { sizeName } from "../text_files.js";
import { Icon, IconButton } from "./icon.jsx";

const sizeOf = ({ text }) => sizeName(new TextEncoder().encode(text).length);

function Label({ file }) {
  return (
    <>
      <Icon name="file" />
      <span class="filename">{file.name}</span>
      <span class="soft">{sizeOf(file)}</span>
    </>
  );
}

/** The files attached to the next message. remove: called with the file to remove. */
export function ChosenFiles({ files, remove }) {
  if (!files.length) return null;
  return (
    <ul class="files" aria-label="Attached files">
      {files.map((file, i) => (
        <li key={i} class="file">
          <Label file={file} />
          <IconButton icon="close" name={`Remove ${file.name}`} onClick={() => remove(file)} />
        </li>
      ))}
    </ul>
  );
}

/** The files of a sent message. A click shows a file's text. */
export function SentFiles({ files = [] }) {
  return files.map((file, i) => (
    <details key={i} class="file">
      <summary>
        <Label file={file} />
      </summary>
      <pre tabindex="0" aria-label={`Text of ${file.name}`}>
        {file.text}
      </pre>
    </details>
  ));
}
