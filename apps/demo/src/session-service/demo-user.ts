import { ApiProperty } from '@nestjs/swagger';

/** A user whom the embedded session service knows, with the password that the page may fill in. */
export class DemoUser {
  @ApiProperty()
  readonly username: string;

  @ApiProperty()
  readonly password: string;

  @ApiProperty({ description: 'What this user shows' })
  readonly about: string;

  constructor(username: string, password: string, about: string) {
    this.username = username;
    this.password = password;
    this.about = about;
  }
}
