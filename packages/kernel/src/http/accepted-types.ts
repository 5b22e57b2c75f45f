/** One media type of `Accept`, in small letters and without its weight. */
export interface AcceptedType {
  readonly type: string;
  readonly parameters: readonly string[];
  /** 0 refuses it. */
  readonly weight: number;
}

/** What `Accept` lists, as it stands there. Source: RFC 9110, 12.5.1. */
export const listedTypes = (header: string): readonly AcceptedType[] =>
  header
    .toLowerCase()
    .split(',')
    .map((part) => {
      const [type = '', ...parameters] = part
        .split(';')
        .map((piece) => piece.replaceAll(/\s/g, ''));
      const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return {
        type,
        parameters: parameters.filter((each) => !each.startsWith('q=')),
        weight: q === undefined ? 1 : Number(q) || 0,
      };
    });

/** The same, the most wanted first; what is refused is left out. */
export const acceptedTypes = (header: string): readonly AcceptedType[] =>
  listedTypes(header)
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight);
