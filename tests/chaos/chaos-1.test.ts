import { describe } from 'vitest';
import { livesThrough } from './lives-through.ts';

describe('a world in which everything goes wrong', () => {
  livesThrough({ from: 1, to: 25 });
});
