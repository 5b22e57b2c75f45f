import type { Call } from './call.js';
import type { RegexLiteral } from './regex-literal.js';
import type { VarRef } from './var-ref.js';
import type { Wildcard } from './wildcard.js';

/** One item of GROUP BY; a call is `time(interval, offset)`. */
export type Dimension = VarRef | Wildcard | RegexLiteral | Call;
