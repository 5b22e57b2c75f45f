/** One media type of `Accept`, in small letters and without its weight. */
export interface AcceptedType {
  readonly type: string;
  readonly parameters: readonly string[];
}

/** What `Accept` lists, the most wanted first; what it refuses by `q=0` is left out. Source: RFC 9110, 12.5.1. */
export function acceptedTypes(header: string): readonly AcceptedType[] {
  const listed = header
    .toLowerCase()
    .split(',')
    .map((part) => {
      const [type = '', ...parameters] = part
        .split(';')
        .map((piece) => piece.replaceAll(/\s/g, ''));
      const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      const weight = q === undefined ? 1 : Number(q) || 0;
      return { type, parameters: parameters.filter((each) => !each.startsWith('q=')), weight };
    });
  return listed.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight);
}
