import { Module } from '@nestjs/common';
import { SessionAuthModule } from 'nestjs-session-auth';
import { SampleController } from './sample.controller.js';

@Module({
  imports: [
    SessionAuthModule.forRoot({ baseUrl: 'https://sessions.example.com', apiKey: 'your-application-key' }),
  ],
  controllers: [SampleController],
})
export class AppModule {}
