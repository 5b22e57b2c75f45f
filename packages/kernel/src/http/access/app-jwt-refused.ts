/** Why an app's JSON web token was rejected; each reason has its own response. Source: webhooks, section 3.2. */
export type AppJwtReason =
  | 'undecodable'
  | 'issuer_missing'
  | 'app_unknown'
  | 'key_missing'
  | 'issued_at_invalid'
  | 'not_yet_valid'
  | 'expiration_invalid'
  | 'expiration_too_far'
  | 'app_suspended';

/** Clients match these messages, so they are identical to GitHub's messages. */
const MESSAGE: Readonly<Record<AppJwtReason, string>> = {
  undecodable: 'A JSON web token could not be decoded',
  issuer_missing: "Missing 'issuer' claim ('iss') in assertion",
  app_unknown: 'Integration not found',
  key_missing: 'Integration must generate a public key',
  issued_at_invalid:
    "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
  not_yet_valid:
    "'Not before' claim ('nbf') must be a numeric value representing a time that has passed",
  expiration_invalid:
    "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
  expiration_too_far: "'Expiration time' claim ('exp') is too far in the future",
  app_suspended: 'This application has been suspended',
};

const STATUS: Readonly<Partial<Record<AppJwtReason, number>>> = {
  app_unknown: 404,
  app_suspended: 403,
};

/** The token does not authenticate an app. The message may be shown to the client. */
export class AppJwtRefused extends Error {
  override readonly name = 'AppJwtRefused';
  readonly kind = 'app_jwt_refused';
  readonly reason: AppJwtReason;
  constructor(reason: AppJwtReason) {
    super(MESSAGE[reason]);
    this.reason = reason;
  }

  /** The response status, the same in every service that accepts such tokens. */
  get status(): number {
    return STATUS[this.reason] ?? 401;
  }
}
