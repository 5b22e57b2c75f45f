export interface BindAddress {
  readonly host: string;
  readonly port: number;
}

/** `[::1]:8181` and `127.0.0.1:8181`; the settings have checked the form. The host comes without brackets. */
export function splitBind(bind: string): BindAddress {
  const colon = bind.lastIndexOf(':');
  return {
    host: bind.slice(0, colon).replace(/^\[|\]$/g, ''),
    port: Number(bind.slice(colon + 1)),
  };
}
