import { expect, test } from 'vitest';
import { examples } from '../../../src/domain/when/faults.ts';
import { settableParts } from '../../../src/domain/when/setting.ts';
import { pseudo } from '../../support/pseudo.ts';
import { playStory, stories } from './story.ts';
import { labels } from './talk.ts';

/** Names of zones stand as they are in every language. */
const zones = [...Intl.supportedValuesOf('timeZone'), 'UTC', 'Asia/Kolkata', 'Asia/Kathmandu'];

/** Names, and the faults of templates, which are those of Liquid. */
const names =
  'Team message digest http echo minutes min hour hours fridays title remove text Water the plants name monday thursday something nag private quiet members admins output not closed line col';

/** Phrases to be typed: English is read in every language. The buttons that make a task write such a phrase. */
const typed = [...Object.values(examples).flat(), ...settableParts, 'every sunday and weekday'];

/** The faults of policies, which name them as the API does. */
const policies = 'policies is out of range';

/** The line of a late result, which is written with the result, and the day on which the stories play. */
const late = 'late due ran wed nov';

const known = new Set(
  [...zones, names, ...typed, policies, late].flatMap((words) => words.match(/[a-z]+/gi) ?? []).map(lower),
);

function lower(word: string): string {
  return word.toLowerCase();
}

/** Plain words in the answers that nobody in the story has written: another language cannot say them. */
function leaks(told: readonly string[], steps: readonly string[]): readonly string[] {
  const written = new Set(
    steps
      .join(' ')
      .replaceAll('\\n', ' ')
      .toLowerCase()
      .match(/[a-z]+/g),
  );
  const plain = told.join('\n').match(/(?<![\p{L}/])[a-z]{3,}(?!\p{L})/giu) ?? [];
  const isKnown = (word: string) => [word, word.replace(/s$/, '')].some((one) => written.has(one) || known.has(one));
  return [...new Set(plain)].filter((word) => !isKnown(lower(word)));
}

/** A phone shows no more of a button. */
const labelMax = 48;

test.each(stories)('%s can be told in another language', async (name) => {
  const { presses } = await playStory(name);
  const { steps, shown, toasts } = await playStory(name, pseudo, presses);
  // Lines of the story itself stand in brackets.
  const told = steps.flatMap(({ told: lines }) => lines.filter((line) => !line.startsWith('(')));
  expect(
    leaks(
      [...told, ...toasts],
      steps.map(({ step }) => step),
    ),
  ).toEqual([]);
  for (const { text } of shown) expect(text.length).toBeLessThanOrEqual(4096);
  for (const toast of toasts) expect(toast).not.toContain('…');
  for (const label of shown.flatMap((message) => labels(message).flat())) {
    expect(label.length, label).toBeLessThanOrEqual(labelMax);
  }
});
