import { worldsOf } from '../support/store-worlds.ts';
import { conformance } from './conformance.ts';

conformance(worldsOf('sqlite'));
