import { defineSettings } from '@plinth/kernel';
import { Type } from 'typebox';

/** The bucket of an S3-compatible store. Flags and variables have the names of InfluxDB 3. */
export const OBJECT_STORE_SETTINGS = defineSettings(
  'object_store',
  {
    bucket: Type.Optional(
      Type.String({
        pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$',
        examples: ['plinth-tables'],
        description: 'bucket for published tables; requires `open_tables.store = s3`',
        details:
          'No other program may write below the prefix. The store must support conditional writes (`If-None-Match`).',
      }),
    ),
    prefix: Type.String({
      default: '',
      pattern: '^([A-Za-z0-9_=+@-][A-Za-z0-9_=+@.-]{0,199}(/(?=.)|$)){0,4}$',
      examples: ['plinth/node0'],
      description: 'prefix of all object names in the bucket',
    }),
    aws_endpoint: Type.Optional(
      Type.String({
        pattern: '^https?://[^\\s/?#@]+/?$',
        examples: ['https://s3.example.com'],
        description: 'address of a store other than AWS, without the bucket',
      }),
    ),
    aws_default_region: Type.String({
      default: 'us-east-1',
      minLength: 1,
      description: 'region of the bucket',
    }),
    aws_access_key_id: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'access key; default: the AWS credential chain',
        details:
          'The chain reads `~/.aws/credentials`, the file in `AWS_SHARED_CREDENTIALS_FILE`, and the roles of containers and machines.',
      }),
    ),
    aws_secret_access_key: Type.Optional(
      Type.String({ minLength: 1, description: 'secret of the access key' }),
    ),
    aws_session_token: Type.Optional(
      Type.String({ minLength: 1, description: 'session token of temporary credentials' }),
    ),
    aws_allow_http: Type.Boolean({
      default: false,
      description: 'allow an endpoint without TLS',
    }),
    timeout_ms: Type.Integer({
      default: 10_000,
      minimum: 100,
      maximum: 600_000,
      description: 'time without progress after which a request fails',
      details:
        'This limits the time between two bytes in either direction, not the duration of a transfer. Uploads of more than 1 MiB may pause three times as long, because operating system buffers hide their progress.',
    }),
    retries: Type.Integer({
      default: 2,
      minimum: 0,
      maximum: 10,
      description: 'number of retries after a temporary request failure',
    }),
  },
  {
    bucket: { flags: ['bucket'], env: ['INFLUXDB3_BUCKET'] },
    aws_endpoint: { flags: ['aws-endpoint'], env: ['AWS_ENDPOINT'] },
    aws_default_region: { flags: ['aws-default-region'], env: ['AWS_DEFAULT_REGION'] },
    aws_access_key_id: { flags: ['aws-access-key-id'], env: ['AWS_ACCESS_KEY_ID'] },
    aws_secret_access_key: { flags: ['aws-secret-access-key'], env: ['AWS_SECRET_ACCESS_KEY'] },
    aws_session_token: { flags: ['aws-session-token'], env: ['AWS_SESSION_TOKEN'] },
    aws_allow_http: { flags: ['aws-allow-http'], env: ['AWS_ALLOW_HTTP'] },
  },
);
