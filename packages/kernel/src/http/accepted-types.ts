/** One media type of `Accept`, in lowercase and without its weight. */
export interface AcceptedType {
  readonly type: string;
  readonly parameters: readonly string[];
  /** 0 means not acceptable. */
  readonly weight: number;
}

/** Returns the media types in `Accept`, in order of appearance. Source: RFC 9110, 12.5.1. */
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

/** Returns the acceptable types, most preferred first. */
export const acceptedTypes = (header: string): readonly AcceptedType[] =>
  listedTypes(header)
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight);
