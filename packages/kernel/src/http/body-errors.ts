/** The client went away within its body; nobody is left to read the answer. */
export class BodyCut extends Error {
  override readonly name = 'BodyCut';
  readonly kind = 'body_cut';
  constructor() {
    super('the request body ended early');
  }
}

/** A body says that it is encoded in a way that is not known here. */
export class EncodingUnacceptable extends Error {
  override readonly name = 'EncodingUnacceptable';
  readonly kind = 'encoding_unacceptable';
  constructor(encoding: string) {
    super(`unacceptable content-encoding: ${encoding}`);
  }
}

/** A body that has to be JSON says that it is something else, or nothing. */
export class ContentTypeUnacceptable extends Error {
  override readonly name = 'ContentTypeUnacceptable';
  readonly kind = 'content_type_unacceptable';
  constructor() {
    super('unacceptable content-type, expected: application/json');
  }
}
