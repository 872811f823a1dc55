import { deadLettersContract } from './dead-letters.ts';
import { infraiDeadLetters } from './dead-letters-infrai.ts';

deadLettersContract('Infrai', infraiDeadLetters);
