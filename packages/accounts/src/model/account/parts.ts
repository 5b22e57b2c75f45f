/** Types shared by accounts and persons; names and nesting as on the wire. */
export interface Address {
  readonly city?: string;
  /** Country code in upper case. */
  readonly country?: string;
  readonly line1?: string;
  readonly line2?: string;
  readonly postal_code?: string;
  readonly state?: string;
  readonly town?: string;
}

export interface CalendarDate {
  readonly day: number;
  readonly month: number;
  readonly year: number;
}

/** A declaration or an acceptance; `date` is a wire timestamp. */
export interface Attestation {
  readonly date?: string;
  readonly ip?: string;
  readonly user_agent?: string;
}

export type AcceptedTerms = Attestation;

export interface IdNumber {
  readonly type: string;
  /** As sent. Never in a response, event or log. */
  readonly value: string;
  readonly registrar?: string;
}

export interface Scripts<T> {
  readonly kana?: T;
  readonly kanji?: T;
}

export interface Document {
  readonly type: 'files' | 'front_back';
  readonly files?: readonly string[];
  readonly front_back?: { readonly front?: string; readonly back?: string };
  readonly signer?: { readonly person?: string };
}

export type Documents = Readonly<Record<string, Document | undefined>>;

export interface Amount {
  readonly value: number;
  readonly currency: string;
}

/**
 * The same tree in the form that clients may send: every member is optional, and `null` or `''`
 * unsets it. Lists are replaced completely.
 */
export type RequestFields<T> = T extends string | number | boolean
  ? T
  : T extends readonly (infer Item)[]
    ? readonly GivenItem<Item>[]
    : { readonly [K in keyof T]?: RequestFields<Exclude<T[K], undefined>> | null };

/** Members of list items can be `null`, items cannot. */
type GivenItem<T> = T extends string | number | boolean
  ? T
  : { readonly [K in keyof T]?: Exclude<T[K], undefined> | null };
