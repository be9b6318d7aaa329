/** @import { Bodies } from '../../../control/shapes.ts' */
import { toast } from '../dialogs.js';
import { byId, el } from '../nodes.js';
import { kindsOf, shown } from '../shown.js';

/** @typedef {NonNullable<Bodies['say']['media']>} Media */
/** @typedef {Media extends infer One ? One extends readonly (infer Item)[] ? Item : never : never} Item */

/** The server takes no more in one message. */
const sizeMax = 5 * 1024 * 1024;

/** Telegram's apps send so many as one album. */
const albumMax = 10;

/** @type {Readonly<Record<Item['kind'], string>>} */
const names = {
  photo: 'photo',
  document: 'file',
  video: 'video',
  audio: 'music',
  voice: 'voice message',
  animation: 'animation',
};

/** @type {readonly File[]} */
let chosen = [];

const kindField = () => byId('attached-kind', HTMLSelectElement);

/** @param {readonly File[]} files */
function choose(files) {
  const [first, ...others] = files;
  if (first === undefined) return;
  if (shown.editing !== null) return toast('Finish or leave the edit first.', true);
  if (files.length > albumMax) return toast(`An album has at most ${albumMax} files. Choose fewer.`, true);
  const large = files.find(({ size }) => size > sizeMax);
  if (large !== undefined) return toast(`${large.name} has more than 5 MiB. Choose a smaller file.`, true);
  chosen = files;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  byId('attached-name').textContent = `${first.name}${more}`;
  kindField().replaceChildren(...kindsOf(first.type).map((kind) => el('option', { value: kind }, `as ${names[kind]}`)));
  byId('attached').hidden = false;
  byId('say').focus();
}

export function dropFile() {
  chosen = [];
  byId('attached').hidden = true;
  byId('attach', HTMLInputElement).value = '';
}

/** @returns {Promise<Media | null>} the files that go with the next message, or null without one. */
export async function chosenFile() {
  const [first, ...others] = await Promise.all(chosen.map(sent));
  if (first === undefined) return null;
  return others.length === 0 ? first : [first, ...others];
}

/**
 * Sends each file of an album as the first one is sent, if it can be sent so.
 *
 * @param {File} file
 * @returns {Promise<Item>}
 */
async function sent(file) {
  const { name, type } = file;
  const wanted = /** @type {Item['kind']} */ (kindField().value);
  const kinds = kindsOf(type);
  return {
    kind: kinds.includes(wanted) ? wanted : (kinds[0] ?? 'document'),
    name,
    data: await base64Of(file),
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
  input.addEventListener('change', () => choose([...(input.files ?? [])]));
  byId('attached-end').addEventListener('click', dropFile);
  // A picture out of the clipboard is a file as well.
  byId('say').addEventListener('paste', (event) => choose([...(event.clipboardData?.files ?? [])]));
}
