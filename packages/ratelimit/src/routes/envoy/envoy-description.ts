/** The supported part of the protocol by package, with Envoy's field numbers. */
const PACKAGES: Readonly<Record<string, object>> = {
  'google.protobuf': {
    Duration: { fields: { seconds: { type: 'int64', id: 1 }, nanos: { type: 'int32', id: 2 } } },
    UInt64Value: { fields: { value: { type: 'uint64', id: 1 } } },
  },
  'grpc.health.v1': {
    HealthCheckRequest: { fields: { service: { type: 'string', id: 1 } } },
    ServingStatus: { values: { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2 } },
    HealthCheckResponse: { fields: { status: { type: 'ServingStatus', id: 1 } } },
    Health: {
      methods: {
        Check: { requestType: 'HealthCheckRequest', responseType: 'HealthCheckResponse' },
      },
    },
  },
  'envoy.config.core.v3': {
    HeaderValue: { fields: { key: { type: 'string', id: 1 }, value: { type: 'string', id: 2 } } },
  },
  'envoy.type.v3': {
    RateLimitUnit: {
      values: { UNKNOWN: 0, SECOND: 1, MINUTE: 2, HOUR: 3, DAY: 4, MONTH: 5, YEAR: 6, WEEK: 7 },
    },
  },
  'envoy.extensions.common.ratelimit.v3': {
    RateLimitDescriptor: {
      fields: {
        entries: { rule: 'repeated', type: 'Entry', id: 1 },
        limit: { type: 'RateLimitOverride', id: 2 },
        hitsAddend: { type: 'google.protobuf.UInt64Value', id: 3 },
      },
      nested: {
        Entry: { fields: { key: { type: 'string', id: 1 }, value: { type: 'string', id: 2 } } },
        RateLimitOverride: {
          fields: {
            requestsPerUnit: { type: 'uint32', id: 1 },
            unit: { type: 'envoy.type.v3.RateLimitUnit', id: 2 },
          },
        },
      },
    },
  },
  'envoy.service.ratelimit.v3': {
    RateLimitService: {
      methods: {
        ShouldRateLimit: { requestType: 'RateLimitRequest', responseType: 'RateLimitResponse' },
      },
    },
    RateLimitRequest: {
      fields: {
        domain: { type: 'string', id: 1 },
        descriptors: {
          rule: 'repeated',
          type: 'envoy.extensions.common.ratelimit.v3.RateLimitDescriptor',
          id: 2,
        },
        hitsAddend: { type: 'uint32', id: 3 },
      },
    },
    RateLimitResponse: {
      fields: {
        overallCode: { type: 'Code', id: 1 },
        statuses: { rule: 'repeated', type: 'DescriptorStatus', id: 2 },
        responseHeadersToAdd: {
          rule: 'repeated',
          type: 'envoy.config.core.v3.HeaderValue',
          id: 3,
        },
        requestHeadersToAdd: {
          rule: 'repeated',
          type: 'envoy.config.core.v3.HeaderValue',
          id: 4,
        },
        rawBody: { type: 'bytes', id: 5 },
      },
      nested: {
        Code: { values: { UNKNOWN: 0, OK: 1, OVER_LIMIT: 2 } },
        RateLimit: {
          fields: {
            requestsPerUnit: { type: 'uint32', id: 1 },
            unit: { type: 'envoy.type.v3.RateLimitUnit', id: 2 },
            name: { type: 'string', id: 3 },
          },
        },
        DescriptorStatus: {
          fields: {
            code: { type: 'Code', id: 1 },
            currentLimit: { type: 'RateLimit', id: 2 },
            limitRemaining: { type: 'uint32', id: 3 },
            durationUntilReset: { type: 'google.protobuf.Duration', id: 4 },
          },
        },
      },
    },
  },
};

interface Namespace {
  readonly nested: Record<string, Namespace>;
}

/** Returns the same description as a tree of names, for the loader. */
export function envoyDescription(): object {
  const root: Namespace = { nested: {} };
  for (const [path, members] of Object.entries(PACKAGES)) {
    let at = root;
    for (const name of path.split('.')) at = at.nested[name] ??= { nested: {} };
    Object.assign(at.nested, members);
  }
  return root;
}
