import { type HttpAnswer, type HttpHead, platformFailureAnswer } from '@plinth/kernel';

export const refusal = (request: HttpHead, status: number, message: string): HttpAnswer =>
  platformFailureAnswer({ status, message, documentationUrl: `${request.base}/docs/operator` });

export const notFound = (request: HttpHead, message: string): HttpAnswer =>
  refusal(request, 404, message);
