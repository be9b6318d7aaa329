import { worldsOf } from '../support/store-worlds.ts';
import { conformance } from './conformance.ts';

/** As the product runs it: the transactions of one turn share a commit. */
conformance(worldsOf('shared'));
