import { arrowTypeName, parseArrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { quoteString } from '../../emit/quote.js';
import type { FunctionDefinition } from '../function-definition.js';
import { argAt, constantText, expectArgCount, scalar, UTF8 } from '../signature.js';

const VERSION = 'Plinth 0.1.0, SQL of Apache DataFusion';

/**
 * Functions that report types or cast to a named type. Source: query-languages, "Types and casts".
 */
export const INTROSPECTION: readonly FunctionDefinition[] = [
  scalar(['arrow_typeof'], (call) => {
    expectArgCount(call, 1);
    const value = arrowTypeName(argAt(call, 0).type);
    return { text: quoteString(value), type: UTF8, constant: { value } };
  }),
  scalar(['arrow_cast'], (call) => {
    expectArgCount(call, 2);
    const name = constantText(call, 1, 'its second argument');
    const type = parseArrowTypeName(name);
    if (type === undefined) {
      throw tsdbError(
        'plan_error',
        `Error during planning: Unsupported type '${name}'. Must be a supported arrow type name such as ` +
          `'Int32' or 'Timestamp(ns)'. Error unknown token`,
      );
    }
    return call.coerce(argAt(call, 0), type);
  }),
  scalar(['version'], (call) => {
    expectArgCount(call, 0);
    return { text: quoteString(VERSION), type: UTF8, constant: { value: VERSION } };
  }),
];
