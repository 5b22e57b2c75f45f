/** The name is taken; objects are never overwritten. */
export class ObjectExists extends Error {
  override readonly name = 'ObjectExists';
  readonly kind = 'object_exists';
  constructor(object: string) {
    super(`object exists: ${object}`);
  }
}

/** Never put here, or deleted since. */
export class ObjectNotFound extends Error {
  override readonly name = 'ObjectNotFound';
  readonly kind = 'object_not_found';
  constructor(object: string) {
    super(`object not found: ${object}`);
  }
}

/** A name that could lead out of the store, or that not every kind of store can hold. */
export class ObjectNameInvalid extends Error {
  override readonly name = 'ObjectNameInvalid';
  readonly kind = 'object_name_invalid';
  constructor(object: string) {
    super(`object name is not valid: ${JSON.stringify(object)}`);
  }
}
