/** @import { Bodies } from '../../../control/shapes.ts' */
import { toast } from '../dialogs.js';
import { byId, el } from '../nodes.js';
import { kindsOf, shown } from '../shown.js';

/** @typedef {NonNullable<Bodies['say']['media']>} Media */

/** The server takes no more in one message. */
const sizeMax = 5 * 1024 * 1024;

/** @type {Readonly<Record<Media['kind'], string>>} */
const names = {
  photo: 'photo',
  document: 'file',
  video: 'video',
  audio: 'music',
  voice: 'voice message',
  animation: 'animation',
};

/** @type {File | null} */
let chosen = null;

const kindField = () => byId('attached-kind', HTMLSelectElement);

/** @param {File | undefined} file */
function choose(file) {
  if (file === undefined) return;
  if (shown.editing !== null) return toast('Finish or leave the edit first.', true);
  if (file.size > sizeMax) return toast(`${file.name} has more than 5 MiB. Choose a smaller file.`, true);
  chosen = file;
  byId('attached-name').textContent = file.name;
  kindField().replaceChildren(...kindsOf(file.type).map((kind) => el('option', { value: kind }, `as ${names[kind]}`)));
  byId('attached').hidden = false;
  byId('say').focus();
}

export function dropFile() {
  chosen = null;
  byId('attached').hidden = true;
  byId('attach', HTMLInputElement).value = '';
}

/** @returns {Promise<Media | null>} the file that goes with the next message, or null without one. */
export async function chosenFile() {
  if (chosen === null) return null;
  const { name, type } = chosen;
  const kind = /** @type {Media['kind']} */ (kindField().value);
  return {
    kind,
    name,
    data: await base64Of(chosen),
    ...(type === '' ? {} : { mime_type: type.split(';', 1)[0] ?? type }),
  };
}

/**
 * @param {File} file
 * @returns {Promise<string>}
 */
function base64Of(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => {
      const url = /** @type {string} */ (reader.result);
      resolve(url.slice(url.indexOf(',') + 1));
    });
    reader.addEventListener('error', () => reject(new Error(`${file.name} cannot be read.`)));
    reader.readAsDataURL(file);
  });
}

export function startFiles() {
  const input = byId('attach', HTMLInputElement);
  input.addEventListener('change', () => choose(input.files?.[0]));
  byId('attached-end').addEventListener('click', dropFile);
  // A picture out of the clipboard is a file as well.
  byId('say').addEventListener('paste', (event) => choose(event.clipboardData?.files[0]));
}
