/** The accepted boolean strings; other forms are not booleans. */
const BOOLEAN_WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

const INTEGER = /^[+-]?\d{1,16}$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/**
 * Converts the fields of a query string or header set to the types of an object schema and adds defaults, in place.
 * Values that cannot be converted stay unchanged, and the validation rejects them.
 */
export function convertText(fields: Record<string, unknown>, schema: unknown): void {
  const properties = field(schema, 'properties');
  if (typeof properties !== 'object' || properties === null) return;
  for (const [name, property] of Object.entries(properties)) {
    if (Object.hasOwn(fields, name)) fields[name] = convert(fields[name], property);
    else {
      const fallback = field(property, 'default');
      if (fallback !== undefined) fields[name] = structuredClone(fallback);
    }
  }
}

function convert(value: unknown, schema: unknown): unknown {
  const type = field(schema, 'type');
  if (type === 'array') {
    const items = field(schema, 'items');
    // A parameter given once is a string, a repeated one a list.
    return (Array.isArray(value) ? value : [value]).map((item) => convert(item, items));
  }
  if (typeof value !== 'string') return value;
  switch (type) {
    case 'integer':
      return INTEGER.test(value) && Number.isSafeInteger(Number(value)) ? Number(value) : value;
    case 'number':
      return NUMBER.test(value) ? Number(value) : value;
    case 'boolean':
      return BOOLEAN_WORDS.get(value) ?? value;
    default:
      return convertUnion(value, field(schema, 'anyOf'));
  }
}

/** Returns the result of the first branch that converts the text to another type; a string branch keeps the text. */
function convertUnion(value: string, branches: unknown): unknown {
  if (!Array.isArray(branches)) return value;
  if (branches.some((branch) => field(branch, 'type') === 'string')) return value;
  for (const branch of branches) {
    const converted = convert(value, branch);
    if (converted !== value) return converted;
  }
  return value;
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
