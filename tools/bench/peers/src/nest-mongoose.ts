// The catalogue on MongoDB with NestJS on Express and its Mongoose module: a module, a controller, a service, a guard,
// a class that the validation pipe checks.
import 'reflect-metadata';
import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
  Query,
  UnauthorizedException,
  UseGuards,
  ValidationPipe,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { InjectModel, MongooseModule } from '@nestjs/mongoose';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Length, Max, Min } from 'class-validator';
import type { Model } from 'mongoose';
import { listening } from './listening.ts';
import { type Counter, counterSchema, petSchema } from './mongoose-schemas.ts';
import { fromDocument, KEY, type PetDocument, type PetStatus } from './pets.ts';

const STATUSES = ['available', 'pending', 'sold'];

class CreatePetDto {
  @IsString()
  @Length(1, 200)
  name!: string;

  @IsInt()
  categoryId!: number;

  @IsOptional()
  @IsIn(STATUSES)
  status?: PetStatus;
}

class ListPetsDto {
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(100)
  limit = 20;

  @IsOptional()
  @IsIn(STATUSES)
  status?: PetStatus;
}

@Injectable()
class PetsService {
  constructor(
    @InjectModel('Pet') private readonly pets: Model<PetDocument>,
    @InjectModel('Counter') private readonly counters: Model<Counter>,
  ) {}

  async list({ limit, status }: ListPetsDto) {
    const filter = status === undefined ? {} : { status };
    const found = await this.pets.find(filter).sort({ _id: 1 }).limit(limit).lean().exec();
    return found.map(fromDocument);
  }

  async get(id: number) {
    const found = await this.pets.findById(id).lean().exec();
    if (found === null) throw new NotFoundException();
    return fromDocument(found);
  }

  async create(newPet: CreatePetDto) {
    const counter = await this.counters
      .findByIdAndUpdate('pets', { $inc: { last: 1 } }, { upsert: true, returnDocument: 'after' })
      .exec();
    const created = await this.pets.create({ ...newPet, _id: counter.last });
    return fromDocument(created.toObject());
  }
}

@Injectable()
class ApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.switchToHttp().getRequest().headers.authorization === `Bearer ${KEY}`) return true;
    throw new UnauthorizedException();
  }
}

@Controller('v1/pets')
@UseGuards(ApiKeyGuard)
class PetsController {
  constructor(private readonly service: PetsService) {}

  @Get()
  list(@Query() query: ListPetsDto) {
    return this.service.list(query);
  }

  @Get(':petId')
  get(@Param('petId', ParseIntPipe) petId: number) {
    return this.service.get(petId);
  }

  @Post()
  create(@Body() newPet: CreatePetDto) {
    return this.service.create(newPet);
  }
}

@Module({
  imports: [
    MongooseModule.forRoot(process.env['MONGODB_URL'] as string),
    MongooseModule.forFeature([
      { name: 'Pet', schema: petSchema },
      { name: 'Counter', schema: counterSchema },
    ]),
  ],
  controllers: [PetsController],
  providers: [PetsService],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: false });
app.useGlobalPipes(new ValidationPipe({ transform: true }));
await app.listen(0, '127.0.0.1');
listening(app.getHttpServer());
