import { deadLettersContract } from './dead-letters.ts';
import { sqsDeadLetters } from './dead-letters-sqs.ts';

deadLettersContract('SQS', sqsDeadLetters);
