import {
  type BindAddress,
  defineSettings,
  OPENABLE_ENDPOINTS,
  type OpenableEndpoint,
  type SettingsOf,
  splitBind,
} from '@plinth/kernel';
import { Type } from 'typebox';

/** The union's own type is lost in `map`. */
const OpenableEndpointName = Type.Unsafe<OpenableEndpoint>(
  Type.Union(OPENABLE_ENDPOINTS.map((name) => Type.Literal(name))),
);

/** Names of the real system stay valid. Source: tsdb-http, "Server options users rely on". */
export const IDENTITY_SETTINGS = defineSettings(
  'identity',
  {
    without_auth: Type.Boolean({
      default: false,
      description: 'Answer every request without asking for a token.',
    }),
    disable_authz: Type.Array(OpenableEndpointName, {
      default: [],
      description: 'Endpoints that need no token.',
    }),
    admin_token_file: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'JSON file with the admin token for a server that has none yet.',
      }),
    ),
    admin_token_recovery_http_bind: Type.Optional(
      Type.String({
        pattern: '^(true|(\\[[0-9a-fA-F:.]+\\]|[^:\\[\\]]+):[0-9]{1,5})$',
        examples: ['127.0.0.1:8182'],
        description:
          'Address (host:port) on which the admin token can be regenerated once without a token; given without a value, 127.0.0.1:8182. Speaks TLS where the server does.',
      }),
    ),
    credential_prefix: Type.String({
      default: 'pl',
      pattern: '^[A-Za-z]{2,6}$',
      examples: ['gh'],
      description: 'First letters of tokens of users and installations: `pl` makes `plp_`, `pls_`.',
    }),
    shared_max_age_sec: Type.Integer({
      default: 60,
      minimum: 5,
      maximum: 86_400,
      description:
        'How long admin tokens and keys of platforms count as they were read last from `server.database_url` while it cannot be read again; then requests with any are answered 503.',
    }),
    jwt_iat_leeway_sec: Type.Integer({
      default: 5,
      minimum: 0,
      maximum: 600,
      description: "How far in the future an app's JSON web token may say that it was issued.",
    }),
    jwt_exp_leeway_sec: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: 600,
      description: "How much longer than ten minutes an app's JSON web token may live.",
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

/** Host and port of an `admin_token_recovery_http_bind` value. */
export function parseRecoveryBind(value: string): BindAddress {
  return splitBind(value === 'true' ? DEFAULT_RECOVERY_BIND : value);
}
