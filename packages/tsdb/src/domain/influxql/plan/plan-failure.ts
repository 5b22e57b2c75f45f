import { PlanError } from '../../../errors.js';

/** A statement cannot be planned. Source: query-languages, "More error texts". */
export function planFailure(text: string): PlanError {
  return new PlanError(`Error during planning: ${text}`);
}
