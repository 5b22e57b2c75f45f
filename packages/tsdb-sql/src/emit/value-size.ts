import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { quoteString } from './quote.js';

/** Size of a list element in addition to its string. */
const ELEMENT_BYTES = 16;

/**
 * Returns the DuckDB SQL for the size in bytes of a list without its strings. The size is computed
 * without reading the elements.
 */
export function listBytesText(value: string, type: SqlType): string {
  return type.kind === 'list' && sizeText('x', type.element) !== undefined ? listBytes(value) : '0';
}

/**
 * Returns the DuckDB SQL for the size in bytes of a value that may be long, else `undefined`. Tags
 * and the fixed-size fields of structs are short.
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
  // Nested lambdas may reuse the name; each refers to the innermost.
  const size = sizeText('x', element);
  if (size === undefined) return listBytes(list);
  return `(${listBytes(list)} + coalesce(list_sum(list_transform(${list}, lambda x: ${size})), 0))`;
}

function listBytes(list: string): string {
  return `(len(${list}) * ${ELEMENT_BYTES})`;
}
