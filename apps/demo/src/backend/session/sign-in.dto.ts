import { ApiProperty } from '@nestjs/swagger';
import { IsNotEmpty, IsString, MaxLength } from 'class-validator';

/** The body of a sign-in. */
export class SignInDto {
  @ApiProperty({ example: 'manager' })
  @IsString()
  @IsNotEmpty()
  @MaxLength(200)
  readonly username!: string;

  @ApiProperty({ format: 'password' })
  @IsString()
  @IsNotEmpty()
  @MaxLength(200)
  readonly password!: string;
}
