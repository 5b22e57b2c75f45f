import type { SqlType } from '../../../model/sql-type.js';
import { quoteString } from './quote.js';

/** What an element of a list takes besides the text that it may be. */
const ELEMENT_BYTES = 16;

/** Text of the bytes that a list of texts takes without them: known at once, while they are looked at one by one. */
export function spineText(value: string, type: SqlType): string {
  return type.kind === 'list' && sizeText('x', type.element) !== undefined ? spine(value) : '0';
}

/**
 * Text of the bytes that a value takes, for values that may be long; `undefined` for all others. Tags are short, and so is what
 * structs hold besides texts and lists.
 */
export function sizeText(value: string, type: SqlType): string | undefined {
  switch (type.kind) {
    case 'utf8':
      return `strlen(${value})`;
    case 'binary':
      return `octet_length(${value})`;
    case 'list':
      return listSize(value, type.element);
    case 'map':
      return `(${listSize(`map_keys(${value})`, type.key)} + ${listSize(`map_values(${value})`, type.value)})`;
    case 'struct': {
      const sizes = type.fields.flatMap((field) => {
        const size = sizeText(`struct_extract(${value}, ${quoteString(field.name)})`, field.type);
        return size === undefined ? [] : [`coalesce(${size}, 0)`];
      });
      return sizes.length === 0 ? undefined : `(${sizes.join(' + ')})`;
    }
    default:
      return undefined;
  }
}

function listSize(list: string, element: SqlType): string {
  // Lambdas within each other may have one name: each sees the innermost.
  const size = sizeText('x', element);
  if (size === undefined) return spine(list);
  return `(${spine(list)} + coalesce(list_sum(list_transform(${list}, lambda x: ${size})), 0))`;
}

function spine(list: string): string {
  return `(len(${list}) * ${ELEMENT_BYTES})`;
}
