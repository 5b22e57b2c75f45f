import {
  type BindAddress,
  defineSettings,
  OPENABLE_ENDPOINTS,
  type OpenableEndpoint,
  type SettingsOf,
  splitBind,
} from '@plinth/kernel';
import { Type } from 'typebox';

/** `map` loses the literal type of the union. */
const OpenableEndpointName = Type.Unsafe<OpenableEndpoint>(
  Type.Union(OPENABLE_ENDPOINTS.map((name) => Type.Literal(name))),
);

/**
 * The option names of the real system are valid aliases. Source: tsdb-http, "Server options users
 * rely on".
 */
export const IDENTITY_SETTINGS = defineSettings(
  'identity',
  {
    without_auth: Type.Boolean({
      default: false,
      description: 'accept every request without a token',
    }),
    disable_authz: Type.Array(OpenableEndpointName, {
      default: [],
      description: 'endpoints that do not require a token',
    }),
    admin_token_file: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'JSON file with the admin token to create if none exists',
      }),
    ),
    admin_token_recovery_http_bind: Type.Optional(
      Type.String({
        pattern: '^(true|(\\[[0-9a-fA-F:.]+\\]|[^:\\[\\]]+):[0-9]{1,5})$',
        examples: ['127.0.0.1:8182'],
        description: 'address (host:port) for regenerating the admin token once, without a token',
        details: 'Without a value: `127.0.0.1:8182`. Uses TLS if the server does.',
      }),
    ),
    credential_prefix: Type.String({
      default: 'pl',
      pattern: '^[A-Za-z]{2,6}$',
      examples: ['gh'],
      description: 'prefix of user and installation tokens: `pl` creates `plp_` and `pls_`',
    }),
    shared_max_age_sec: Type.Integer({
      default: 60,
      minimum: 5,
      maximum: 86_400,
      description: 'how long cached admin tokens and platform keys stay valid without the database',
      details:
        'While the database in `server.database_url` cannot be read, older tokens and keys return 503.',
    }),
    jwt_iat_leeway_sec: Type.Integer({
      default: 5,
      minimum: 0,
      maximum: 600,
      description: 'allowed clock skew for the issue time of app JWTs',
    }),
    jwt_exp_leeway_sec: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: 600,
      description: 'leeway beyond the ten-minute maximum lifetime of app JWTs',
    }),
  },
  {
    without_auth: {
      flags: ['without-auth'],
      env: ['INFLUXDB3_WITHOUT_AUTH', 'INFLUXDB3_START_WITHOUT_AUTH'],
    },
    disable_authz: { flags: ['disable-authz'], env: ['INFLUXDB3_DISABLE_AUTHZ'] },
    admin_token_file: { flags: ['admin-token-file'], env: ['INFLUXDB3_ADMIN_TOKEN_FILE'] },
    admin_token_recovery_http_bind: {
      flags: ['admin-token-recovery-http-bind'],
      env: ['INFLUXDB3_ADMIN_TOKEN_RECOVERY_HTTP_BIND_ADDR'],
    },
  },
);
export type IdentityConfig = SettingsOf<typeof IDENTITY_SETTINGS>;

const DEFAULT_RECOVERY_BIND = '127.0.0.1:8182';

/** Parses an `admin_token_recovery_http_bind` value into host and port. */
export function parseRecoveryBind(value: string): BindAddress {
  return splitBind(value === 'true' ? DEFAULT_RECOVERY_BIND : value);
}
