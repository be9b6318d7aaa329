import { placesOf } from '../support/engines.ts';
import { engineConformance } from './conformance.ts';

engineConformance(placesOf('memory'));
