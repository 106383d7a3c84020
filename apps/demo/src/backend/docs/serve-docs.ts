import { type INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { addSessionAuth } from 'nestjs-session-auth/swagger';

/** Serves the OpenAPI document at /docs-json, and Swagger UI at /docs. */
export function serveDocs(app: INestApplication): void {
  const builder = new DocumentBuilder()
    .setTitle('Hiring demo')
    .setDescription('Sign in at POST /api/session, then enter the token under Authorize.')
    .setVersion('0.1.0');
  const config = addSessionAuth(builder).build();
  // On Fastify, the page (but not the document) needs @fastify/static, which Jest can't load from CommonJS.
  const ui = app.getHttpAdapter().getType() === 'express';
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, config), {
    ui,
    customSiteTitle: 'Hiring demo API',
  });
}
