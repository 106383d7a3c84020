import { deepEqual, equal, throws } from 'node:assert/strict';
import { HttpModule, HttpService } from '@nestjs/axios';
import { Module } from '@nestjs/common';
import { SessionContext } from 'nestjs-session-auth/context';
import { AppModule } from '../dist/context/src/app.module.js';
import { BenefitsService } from '../dist/context/src/benefits.service.js';
import { PayrollService } from '../dist/context/src/payroll.service.js';
import { SalariesService } from '../dist/context/src/salaries.js';
import { expectStatus, listening, trial, underTest } from './support.mjs';

class RootModule {}
Module({
  imports: [AppModule, HttpModule],
  providers: [PayrollService, BenefitsService],
})(RootModule);

await trial('the user anywhere in a call', async () => {
  const { sessions, moduleRef } = await underTest(RootModule);
  const { app, ask } = await listening(moduleRef.createNestApplication());
  const headers = { ...sessions.signInAs({ username: 'ann' }), 'x-auth-iv': 'iv' };

  await expectStatus(ask('/salaries'), 401);
  equal(await (await ask('/salaries', headers)).text(), 'salaries for ann');
  throws(() => app.get(SessionContext).user, { code: 'SESSION_REQUIRED' });
  equal(app.get(SessionContext).findUser(), undefined);

  /** The service at the other end answers with the session that it gets. */
  const sessionIn = (sent) => ({
    token: sent.get('x-auth-token'),
    iv: sent.get('x-auth-iv'),
    key: sent.get('x-api-key'),
  });
  const { axiosRef } = app.get(HttpService);
  axiosRef.defaults.adapter = async (config) => ({
    status: 200,
    data: sessionIn(new globalThis.Headers(config.headers)),
    headers: {},
    config,
  });
  const { fetch } = globalThis;
  const viaFetch = (url, { headers: sent, redirect }) =>
    globalThis.Response.json({ url, redirect, ...sessionIn(new globalThis.Headers(sent)) });
  /** Returns the result of a service in a call of a user. */
  const inCall = async (call) => {
    app.get(SalariesService).find = call;
    return (await ask('/salaries', headers)).json();
  };

  const session = { token: headers['x-auth-token'], iv: 'iv', key: null };
  deepEqual(await inCall(() => app.get(PayrollService).slips()), session);
  const elsewhere = await inCall(async () => (await axiosRef.get('https://payroll.example.com/slips')).data);
  deepEqual(elsewhere, { token: null, iv: null, key: null });
  const benefits = await inCall(async () => {
    globalThis.fetch = async (...request) => viaFetch(...request);
    const response = await app.get(BenefitsService).list();
    globalThis.fetch = fetch;
    return response.json();
  });
  deepEqual(benefits, { url: 'https://benefits.internal/list', redirect: 'manual', ...session });
  await app.close();
});
