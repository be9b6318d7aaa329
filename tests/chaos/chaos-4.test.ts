import { describe } from 'vitest';
import { livesThrough } from './lives-through.ts';

// The worlds are spread over files, because files are what runs side by side.
describe('more worlds in which everything goes wrong', () => {
  livesThrough({ from: 76, to: 95 });
});
