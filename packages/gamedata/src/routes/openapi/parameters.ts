export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly required: boolean;
  readonly description: string;
  readonly schema: object;
}

export const query = (name: string, schema: object, description: string): Parameter => ({
  name,
  in: 'query',
  required: false,
  description,
  schema,
});
export const inPath = (name: string, description: string): Parameter => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
});
export const text = (options: object = {}): object => ({ type: 'string', ...options });
export const integer = (minimum: number, maximum: number, options: object = {}): object => ({
  type: 'integer',
  minimum,
  maximum,
  ...options,
});

/** What every read takes. */
export const COMMON: readonly Parameter[] = [
  query('lang', text(), 'language code of the data set, or `all`'),
  query('version', integer(1, 2_147_483_647), 'a published version; the newest unless said'),
  query('strict', { type: 'boolean' }, '`true`: unknown parameters are refused'),
];
