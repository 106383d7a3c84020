import { Controller, Sse, type MessageEvent } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { ApiSessionAuth } from 'nestjs-session-auth/swagger';
import { map, type Observable, timer } from 'rxjs';

const EVERY_MS = 500;

/** A stream that never ends by itself: it ends with the session of its reader. */
@ApiTags('news')
@Controller('api/news')
export class NewsController {
  @Sse()
  @ApiSessionAuth()
  news(): Observable<MessageEvent> {
    return timer(0, EVERY_MS).pipe(map((number) => ({ data: `news ${number + 1}` })));
  }
}
