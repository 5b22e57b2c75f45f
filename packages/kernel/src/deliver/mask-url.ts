const CREDENTIALS_MASK = '***';

/** Credentials in a URL are for the receiver alone. */
export function maskUrl(url: string): string {
  return url.replace(/^(https?:\/\/)[^/?#@]*@/, `$1${CREDENTIALS_MASK}:${CREDENTIALS_MASK}@`);
}

/** For logs: query values are often keys. */
export function maskUrlForLog(url: string): string {
  return maskUrl(url).replace(/([?&][^=&#]*=)[^&#]*/g, '$1***');
}
